/* SPDX-License-Identifier: GPL-2.0-only */
/* The own CONFIRM RKEY and DELETE RKEY of a group, RFC 7609 3.5.5.2. */
#ifndef _SMCR_LGR_RKEY_H
#define _SMCR_LGR_RKEY_H

#include "core/lgr_roles.h"
#include "base/base.h"

/**
 * struct smcr_llc_rkey - the own CONFIRM RKEY or DELETE RKEY exchange; llc.lock
 * @rmb: the RMB; NULL: no caller waits for an exchange
 * @del: DELETE RKEY, not CONFIRM RKEY
 * @on: RKey and address that are announced to the peer, by slot
 * @named: slots for which @on is valid, bits; on other links the RMB has no RKey
 * @prepare: PREPARE was ordered: the caller is to register the RMB and to set @on
 * @ok: outcome of the registration
 * @why: reason of a failed registration
 * @done: @res is valid
 * @res: outcome of the exchange, enum smcr_rkey_res
 */
struct smcr_llc_rkey {
	struct smcr_rmb *rmb;
	bool del;
	struct {
		u32 rkey;
		u64 va;
	} on[SMCR_SLOTS];
	u16 named;
	bool prepare;
	bool ok;
	enum smcr_reason why;
	bool done;
	u8 res;
};

int smcr_lgr_confirm_rkey(struct smcr_lgr *lgr, struct smcr_rmb *rmb);
int smcr_lgr_delete_rkey(struct smcr_lgr *lgr, struct smcr_rmb *rmb);

#endif /* _SMCR_LGR_RKEY_H */
