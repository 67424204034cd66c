/* SPDX-License-Identifier: MIT */
/**
 * target.h - what `sxsprof push` sends to: a table of targets, each with a function that turns a
 * batch into requests. The queue, retries and TLS are the same for all of them.
 *
 * A batch is what one process recorded in one period, usually a minute of the wall clock. Everything
 * in it is borrowed for the call that gets it. One thread; not signal-safe.
 */
#ifndef SXS_CMD_PUSH_TARGET_H
#define SXS_CMD_PUSH_TARGET_H

#include "cmd/report/model.h"
#include "session/read/session_read.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sxs_push_label {
    const char *key, *value;
};

/** Where to, and what is known of the processes beside their sessions. Strings are borrowed. */
struct sxs_push_settings {
    const char *to;      /* the URL of --to */
    const char *service; /* of --service; NULL: each process's own name */
    const char *version; /* of the service; "": not known */
    const char *machine; /* host name of the machine that the sessions are of */
    const struct sxs_push_label
          *labels; /* of --label; keys are unique: letters, digits, "_", "." */
    size_t n_labels;
};

struct sxs_push_batch {
    uint8_t  id[16];         /* never all zero; the same each time the same data are pushed */
    uint64_t from_ns, to_ns; /* the period: CLOCK_REALTIME; to_ns is the first that is not in it */
    const char                       *service; /* never "" */
    const char                       *session; /* name of the session's folder, without its path */
    const struct sxs_session_process *process;
    /* One per kind of data: samples, alloc, native, locks, and those of sxs_push_target.more_data
     * (sxs_model.data). Each has this process only. The weights of nodes (self, self_ns, and those
     * of costs) are of this period only; totals, frames, threads and other fields are of the whole
     * session. Of live data they are what is alive; the newest batch has them. At least one model
     * has a node with a weight. */
    const struct sxs_model *const *models;
    size_t                         n_models;
};

/** One HTTP request: POST. */
struct sxs_push_request {
    const char *path; /* appended to the base URL: "/ingest?name=x". Without credentials: it is kept
                       * in the queue's files */
    const char *content_type;
    const char *encoding; /* Content-Encoding: "gzip"; NULL: none */
    const void *body;
    size_t      size; /* bytes */
};

/** Where a target's requests go: see cmd/push/out.h. */
struct sxs_push_out;

/**
 * sxs_push_emit - put a request at the end of the queue. The requests of a batch are sent in their
 * order; each after the one before it was accepted.
 * Returns 0 or a negative errno, which encode() returns at once. */
int sxs_push_emit(struct sxs_push_out *out, const struct sxs_push_request *r);

/** An answer to a request. */
struct sxs_push_answer {
    long        status; /* of HTTP */
    const char *body;   /* its beginning, zero-terminated */
    size_t      size;
};

enum sxs_push_verdict {
    SXS_PUSH_ACCEPTED,
    SXS_PUSH_REFUSED, /* the same request would be refused again: its batch is dropped, and counted */
    SXS_PUSH_LATER,   /* sent again later */
    SXS_PUSH_STOP,    /* every request would be refused, until the user corrects an address, a token
                       * or a certificate: nothing is dropped */
};

/** Of a target that sends several batches as one. */
struct sxs_push_joining {
    /**
     * Returns what the target remembers of its server; owned. @sender: the name of the sender, such as the
     * path of the queue. Commands with the same name do not send at the same time. */
    void *(*open)(const struct sxs_push_settings *s, const char *sender);
    void (*close)(void *joining);
    /**
     * Emits the requests for @n batches; each is what encode() emitted, oldest first.
     * Returns 0, -ENOTSUP when what encode() emitted is to be sent as it is, -EBADMSG when a batch is
     * damaged, or another negative errno. */
    int (*join)(void *joining, const struct sxs_push_out *const *batches, size_t n,
                struct sxs_push_out *out);
    /** Called when request @i of the last join() was accepted. */
    void (*accepted)(void *joining, size_t i);
    /** Called when a request was not accepted: the server may have lost what it had. */
    void (*failed)(void *joining);
};

struct sxs_push_target {
    const char *name;     /* the value of --format */
    const char *schemes;  /* of URLs, separated by commas: "http,https" */
    const char *endpoint; /* a URL whose path ends so is for this target; NULL: none does */
    /**
     * Checks --to before anything is done. Returns 0, or -1 with one line in @why. NULL: any URL of
     * these schemes is right. */
    int (*check)(const struct sxs_push_settings *s, char *why, size_t size);
    /**
     * Returns the base URL (http or https) that the paths of requests are appended to; owned by the
     * caller; NULL: out of memory. NULL: --to without its endpoint and its last slash. */
    char *(*base)(const struct sxs_push_settings *s);
    /** Emits the requests of a batch. Returns 0 or a negative errno. */
    int (*encode)(const struct sxs_push_settings *s, const struct sxs_push_batch *b,
                  struct sxs_push_out *out);
    /**
     * Judges an answer; receives in @why one line when it is not SXS_PUSH_ACCEPTED, or "" if the
     * status says enough. NULL: sxs_push_judge() of the status. */
    enum sxs_push_verdict (*judge)(const struct sxs_push_answer *a, char *why, size_t size);
    /** NULL: the requests of each batch are sent as they are. */
    const struct sxs_push_joining *joining;
    /** Bit N: enum sxs_data N is taken beside samples, alloc, native and locks. */
    uint32_t more_data;
};

/** The targets; a URL whose scheme several have belongs to the first of them unless --format or an
 *  endpoint says otherwise. */
extern const struct sxs_push_target *const sxs_push_targets[];
extern const size_t                        sxs_n_push_targets;

/** sxs_push_judge - judge an answer by its status alone: 2xx is accepted; 408, 425, 429 and 5xx are
 *  for later; 3xx, 401, 403, 404, 405 and 407 are a stop; everything else is refused. */
enum sxs_push_verdict sxs_push_judge(long status);

#endif
