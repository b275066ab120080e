/* SPDX-License-Identifier: GPL-2.0-only */
/* Setup and release of the module's state in every network namespace. */
#ifndef _SMCR_PERNET_H
#define _SMCR_PERNET_H

int smcr_pernet_init(void);
void smcr_pernet_exit(void);

#endif /* _SMCR_PERNET_H */
