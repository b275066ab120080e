/* SPDX-License-Identifier: GPL-2.0-only */
/* Setup of the tables through which floors call those above them. */
#ifndef _SMCR_WIRE_H
#define _SMCR_WIRE_H

void smcr_wire(void);

#endif /* _SMCR_WIRE_H */
