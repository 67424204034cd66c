/* SPDX-License-Identifier: MIT */
/** environment.h - environment variables that one guest alone sees. */
#ifndef SXS_GUESTS_ENVIRONMENT_H
#define SXS_GUESTS_ENVIRONMENT_H

struct guest;

/** guest_environment_provide - make getenv and secure_getenv return the guest's own variables
 *  when the guest's library calls them. Call once, after the library was loaded. */
void guest_environment_provide(struct guest *guest);

#endif
