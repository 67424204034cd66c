/* SPDX-License-Identifier: MIT */
/**
 * classes.h - passes the types that runtimes load to values/types.h, for the values of traced
 * methods.
 *
 * Until an action traces values, only the IDs of loaded classes are kept. As soon as one does, the
 * runtimes are asked about all of these classes, and about each class that is loaded later.
 *
 * Takes a lock of its own. Runtimes are asked for metadata under this lock.
 */
#ifndef SXS_REJIT_METHODS_CLASSES_H
#define SXS_REJIT_METHODS_CLASSES_H

#include "instr/config/config.h"
#include "manager/runtime.h"

/**
 * sxs_classes_follow - start asking runtimes about types, if @config traces any values.
 * Also asks about the classes that were loaded before. Does nothing when it was started already.
 * Called at start, or on a thread that the runtimes do not know.
 */
void sxs_classes_follow(const struct sxs_config *config);

/** To be called in callbacks of the class's runtime: ClassLoadFinished, ClassUnloadStarted. */
void sxs_classes_loaded(sxs_class cls);
void sxs_classes_unloading(sxs_class cls);

/**
 * sxs_classes_close - forget classes of @rt.
 * @ended: nonzero when the runtime ends; 0 when one of its modules is unloaded. Then the classes
 *         that could belong to a collectible assembly are forgotten.
 */
void sxs_classes_close(struct sxs_runtime *rt, int ended);

/** sxs_classes_leave - forget the types of @rt that can be unloaded, because nobody will report that.
 *  To be called while @rt can be called, when no more events are delivered. */
void sxs_classes_leave(struct sxs_runtime *rt);

/** sxs_classes_end - the session ends: free the list of classes. */
void sxs_classes_end(void);

#endif
