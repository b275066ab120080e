/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The TCP option in a list of options, RFC 7609 A.1 (Figure 24).
 */
#ifndef _SMCR_CORE_TCPOPT_PARSE_H
#define _SMCR_CORE_TCPOPT_PARSE_H

#include "env.h"
#include "proto.h"

enum {
	SMCR_TCPOPT_MAX		= 40,	/* all options of a TCP header */
	SMCR_TCPOPT_PADDED	= 8,	/* ours, with two NOPs in front */
};

/**
 * smcr_tcpopt_find() - is the option there?
 * @opt: options of a TCP header
 * @len: their length
 *
 * Kind, length and identifier must all be right (T-09, T-10). The list ends at
 * an EOL and at the first option that is broken; nothing is read behind @len.
 */
bool smcr_tcpopt_find(const u8 *opt, size_t len);

/**
 * smcr_tcpopt_fits() - may the option be put behind these?
 * @opt: options of a TCP header
 * @len: their length
 *
 * No if there is no room (T-13); if they are signed (MD5, AO), because the
 * signature covers the header's length; if nobody would read behind the last
 * one; if the option is there already.
 */
bool smcr_tcpopt_fits(const u8 *opt, size_t len);

/* Write the option, padded: 01 01 FE 06 E2 D4 C3 D9 (T-01) */
void smcr_tcpopt_put(u8 opt[SMCR_TCPOPT_PADDED]);

#endif /* _SMCR_CORE_TCPOPT_PARSE_H */
