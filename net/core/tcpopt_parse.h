/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The SMC-R option among the options of a TCP header, RFC 7609 A.1 (Figure 24).
 */
#ifndef _SMCR_CORE_TCPOPT_PARSE_H
#define _SMCR_CORE_TCPOPT_PARSE_H

#include "env.h"
#include "proto.h"

enum {
	SMCR_TCPOPT_MAX		= 40,	/* all options of a TCP header */
	SMCR_TCPOPT_PADDED	= 8,	/* ours, with two NOPs in front */
};

bool smcr_tcpopt_find(const u8 *opt, size_t len);
bool smcr_tcpopt_fits(const u8 *opt, size_t len);
void smcr_tcpopt_put(u8 opt[SMCR_TCPOPT_PADDED]);

#endif /* _SMCR_CORE_TCPOPT_PARSE_H */
