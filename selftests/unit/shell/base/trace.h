/* SPDX-License-Identifier: GPL-2.0-only */
/* In the place of base/trace.h: what is traced is told, if the run is. */
#ifndef _SMCR_TRACE_H
#define _SMCR_TRACE_H

#include "core/cdc.h"
#include "core/close.h"

#define trace_smcr_conn_state(token, old, ev, new, acts)		\
	tell("token %08x: %s + %s -> %s, %x", token, smcr_conn_st_name(old), \
	     smcr_conn_ev_name(ev), smcr_conn_st_name(new), acts)
#define trace_smcr_cdc(tx, to, c)					\
	tell("%s %08x: seq %u prod %u/%u cons %u/%u p %02x c %02x",	\
	     (tx) ? "tx to" : "rx", to, (c)->seq, (c)->prod.wrap,	\
	     (c)->prod.count, (c)->cons.wrap, (c)->cons.count,		\
	     (c)->pflags, (c)->cflags)
#define trace_smcr_write(token, addr, len)				\
	tell("write for %08x: %llx, %u", token, (u64)(addr), (u32)(len))
#define trace_smcr_move(token, num, seq, again)				\
	tell("token %08x: to link %u, seq %u, %llu again", token, num, seq, again)
#define trace_smcr_link(...)	((void)0)
#define trace_smcr_mode(...)	((void)0)

#endif /* _SMCR_TRACE_H */
