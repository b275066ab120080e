// SPDX-License-Identifier: GPL-2.0-only
/* Reasons: wire codes, names, texts. See reason.h. */
#include "env.h"
#include "reason.h"

struct smcr_reason_row {
	u32 wire;
	const char *name;
	const char *text;
};

static const struct smcr_reason_row rows[NR_SMCR_REASON] = {
#define X(name, wire, kebab, text) [SMCR_R_##name] = { wire, kebab, text },
	SMCR_REASONS(X)
#undef X
};

/**
 * smcr_reason_wire() - diagnosis code of a reason for a CLC Decline (A.2.5)
 * @why: reason
 *
 * Return: the code, 0 for reasons that never cause a Decline.
 */
u32 smcr_reason_wire(enum smcr_reason why)
{
	return (unsigned int)why < NR_SMCR_REASON ? rows[why].wire : 0;
}

/**
 * smcr_reason_name() - short stable name, as in counters and JSON
 * @why: reason
 *
 * Return: static string, "unknown" for a value outside the enum.
 */
const char *smcr_reason_name(enum smcr_reason why)
{
	return (unsigned int)why < NR_SMCR_REASON ? rows[why].name : "unknown";
}

/**
 * smcr_reason_text() - description for users
 * @why: reason
 *
 * Return: static string.
 */
const char *smcr_reason_text(enum smcr_reason why)
{
	return (unsigned int)why < NR_SMCR_REASON ? rows[why].text :
						    "unknown reason";
}
