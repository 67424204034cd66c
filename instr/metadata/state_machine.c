/* SPDX-License-Identifier: MIT */
#include "instr/metadata/state_machine.h"

int sxs_machine_attribute(const char *name)
{
#define NAME(literal) literal,
    static const char *const names[] = {SXS_MACHINE_ATTRIBUTES(NAME)};
#undef NAME
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(name, names[i]) == 0)
            return 1;
    return 0;
}

int sxs_machine_possible(const char *type)
{
    static const char visual_basic[] = "VB$StateMachine_";
    const char       *own = strrchr(type, '+');
    return own && (own[1] == '<' || strncmp(own + 1, visual_basic, sizeof(visual_basic) - 1) == 0);
}
