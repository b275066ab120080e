/* SPDX-License-Identifier: GPL-2.0-only */
/* The wiring of the floors. */
#ifndef _SMCR_WIRE_H
#define _SMCR_WIRE_H

void smcr_wire(void);

#endif /* _SMCR_WIRE_H */
