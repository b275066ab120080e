/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SMCCTL_DIAG_H
#define SMCCTL_DIAG_H

#include <stdint.h>

/* Diagnosis code of a CLC Decline in words; NULL when unknown */
const char *diag_text(uint32_t code);

#endif /* SMCCTL_DIAG_H */
