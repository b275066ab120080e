// SPDX-License-Identifier: GPL-2.0-only
/*
 * The SMC-R option among the options of a TCP header, RFC 7609 A.1.
 */
#include "byteio.h"
#include "env.h"
#include "tcpopt_parse.h"

/* Kinds of other options that are processed here */
enum {
	TCPOPT_KIND_EOL	= 0,	/* RFC 9293 3.2 */
	TCPOPT_KIND_NOP	= 1,
	TCPOPT_KIND_MD5	= 19,	/* RFC 2385 */
	TCPOPT_KIND_AO	= 29,	/* RFC 5925 */
};

/* Length of the first option; 0 if the list ends here or is broken */
static size_t tcpopt_len(const u8 *opt, size_t len)
{
	if (!len || opt[0] == TCPOPT_KIND_EOL)
		return 0;
	if (opt[0] == TCPOPT_KIND_NOP)
		return 1;
	if (len < 2 || opt[1] < 2 || opt[1] > len)
		return 0;
	return opt[1];
}

static bool tcpopt_is_ours(const u8 *opt, size_t n)
{
	return opt[0] == SMCR_TCPOPT_KIND && n == SMCR_TCPOPT_LEN &&
	       smcr_get_be32(opt + 2) == SMCR_EYE_CATCHER;
}

/**
 * smcr_tcpopt_find() - is the SMC-R option present?
 * @opt: options of a TCP header
 * @len: their length
 *
 * Kind, length and identifier must all be right (T-09, T-10). The list ends at
 * an EOL, or at the first option that is broken. No byte behind @len is read.
 *
 * Return: true if it is.
 */
bool smcr_tcpopt_find(const u8 *opt, size_t len)
{
	size_t n;

	for (n = tcpopt_len(opt, len); n; n = tcpopt_len(opt, len)) {
		if (tcpopt_is_ours(opt, n))
			return true;
		opt += n;
		len -= n;
	}
	return false;
}

/**
 * smcr_tcpopt_fits() - may the SMC-R option be put behind these options?
 * @opt: options of a TCP header
 * @len: their length
 *
 * The option must not be added if
 * - there is no room (T-13);
 * - the header is signed (MD5, AO), because the signature covers its length;
 * - an EOL or a broken option ends the list before @len: behind it the SMC-R
 *   option would not be found;
 * - the SMC-R option is present already.
 *
 * Return: false in these cases.
 */
bool smcr_tcpopt_fits(const u8 *opt, size_t len)
{
	size_t n;

	if (len > SMCR_TCPOPT_MAX - SMCR_TCPOPT_PADDED)
		return false;
	for (n = tcpopt_len(opt, len); n; n = tcpopt_len(opt, len)) {
		if (opt[0] == TCPOPT_KIND_MD5 || opt[0] == TCPOPT_KIND_AO ||
		    tcpopt_is_ours(opt, n))
			return false;
		opt += n;
		len -= n;
	}
	return !len;
}

/**
 * smcr_tcpopt_put() - write the SMC-R option, padded
 * @opt: set to 01 01 FE 06 E2 D4 C3 D9 (T-01)
 */
void smcr_tcpopt_put(u8 opt[SMCR_TCPOPT_PADDED])
{
	opt[0] = TCPOPT_KIND_NOP;
	opt[1] = TCPOPT_KIND_NOP;
	opt[2] = SMCR_TCPOPT_KIND;
	opt[3] = SMCR_TCPOPT_LEN;
	smcr_put_be32(opt + 4, SMCR_EYE_CATCHER);
}
