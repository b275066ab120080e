/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reasons for which a message is rejected, a connection is declined, falls back
 * or is aborted, or a link or group ends. The list below has for each reason
 * the name in the enum, the diagnosis code of a CLC Decline (0 = never on the
 * wire), the counter name and the text that smcctl prints. Append only: the
 * numbers are part of the netlink interface.
 *
 * Adding one: a row here, scripts/docs-tables for counters.rst, the code that
 * reports it, a test that checks it. A reason with a wire diagnosis also needs
 * a text in tools/smcctl/diag.c. test_lib.py fails for a reason that nothing
 * reports.
 *
 *	X(NAME, wire diagnosis, "kebab-name", "text")
 */
#ifndef _SMCR_CORE_REASON_H
#define _SMCR_CORE_REASON_H

#include "env.h"

#define SMCR_REASONS(X) \
	X(NONE,			0x00000000, "none", "no reason") \
	/* declines and fallbacks */ \
	X(NO_MEMORY,		0x01010000, "no-memory", "out of memory") \
	X(CONFIRM_LINK_FAIL,	0x02010000, "confirm-link-fail", "CONFIRM LINK could not be sent") \
	X(ADD_LINK_FAIL,	0x02020000, "add-link-fail", "ADD LINK could not be sent") \
	X(PEER_NO_SMC,		0x03010000, "peer-no-smc", "peer did not offer SMC-R on SYN or SYN-ACK") \
	X(IPSEC,		0x03020000, "ipsec", "an IPsec policy applies to the connection") \
	X(NO_DEVICE,		0x03030002, "no-device", "no active RDMA device on the route") \
	X(FASTOPEN,		0x03060000, "fastopen", "TCP Fast Open or another option that needs plain TCP") \
	X(SUBNET,		0x03070000, "subnet", "peer is not in a directly attached subnet") \
	X(NO_LINK,		0x030a0000, "no-link", "link group has no usable link") \
	X(OUT_OF_SYNC,		0x04000000, "out-of-sync", "peer named a link that is not known here") \
	X(PEER_DECLINED,	0x05000000, "peer-declined", "peer declined") \
	X(POLICY,		0x06010000, "policy", "local policy excludes SMC-R") \
	X(RMB_LIMIT,		0x06020000, "rmb-limit", "link group has no room for another RMB") \
	X(QP_FAIL,		0x06030000, "qp-fail", "queue pair could not be set up") \
	X(MR_FAIL,		0x06040000, "mr-fail", "memory could not be registered") \
	X(BAD_MTU,		0x06050000, "bad-mtu", "peer announced a reserved MTU value") \
	X(BAD_BSIZE,		0x06060000, "bad-bsize", "peer announced a reserved RMBE size") \
	X(BAD_LINK_DATA,	0x06070000, "bad-link-data", "CONFIRM LINK does not match what CLC announced") \
	X(DEVICE_GONE,		0x06080000, "device-gone", "RDMA device went away during negotiation") \
	X(LGR_LIMIT,		0x06090000, "lgr-limit", "too many link groups or negotiations") \
	X(RKEY_REFUSED,		0x060a0000, "rkey-refused", "peer refused the RKey of a new RMB") \
	X(LGR_BUSY,		0x060b0000, "lgr-busy", "an exchange with this peer was not settled in time") \
	X(SIMULTANEOUS_OPEN,	0x060c0000, "simultaneous-open", "TCP simultaneous open has no client and server") \
	/* CLC protocol errors */ \
	X(CLC_EYE_CATCHER,	0, "clc-eye-catcher", "CLC eye catcher is wrong") \
	X(CLC_TYPE,		0, "clc-type", "CLC message type is unknown") \
	X(CLC_UNEXPECTED,	0, "clc-unexpected", "CLC message is not the one that is due") \
	X(CLC_LENGTH,		0, "clc-length", "CLC length is impossible") \
	X(CLC_VERSION,		0x030c0000, "clc-version", "CLC version is not usable") \
	X(CLC_PREFIX,		0, "clc-prefix", "CLC subnet or prefix list is inconsistent") \
	X(CLC_VALUE,		0, "clc-value", "CLC field is out of range") \
	X(CLC_PEER_ID,		0, "clc-peer-id", "CLC peer ID changed within the negotiation") \
	X(CLC_TIMEOUT,		0, "clc-timeout", "peer did not answer in the CLC negotiation") \
	X(CLC_EOF,		0, "clc-eof", "TCP connection ended within the CLC negotiation") \
	X(CLC_LINK,		0, "clc-link", "CLC Confirm names no active link of the group") \
	/* LLC protocol errors and link failures */ \
	X(LLC_LENGTH,		0, "llc-length", "message on the link is not 44 bytes") \
	X(LLC_OPCODE,		0, "llc-opcode", "unknown mandatory LLC opcode") \
	X(LLC_OPTIONAL,		0, "llc-optional", "unknown optional LLC opcode, dropped") \
	X(LLC_VALUE,		0, "llc-value", "LLC field is out of range") \
	X(LLC_UNEXPECTED,	0, "llc-unexpected", "LLC message out of place") \
	X(LLC_COUNT,		0, "llc-count", "LLC token counts do not add up") \
	X(LLC_RKEY,		0, "llc-rkey", "LLC names an unknown RKey") \
	X(LLC_LINK_DATA,	0, "llc-link-data", "LLC link data differ from what was announced") \
	X(LLC_TEST_DATA,	0, "llc-test-data", "TEST LINK reply carries other data") \
	X(LLC_TIMEOUT,		0, "llc-timeout", "peer did not answer an LLC request") \
	X(LLC_FLOOD,		0, "llc-flood", "peer sends LLC faster than it can be handled") \
	X(LINK_ERROR,		0, "link-error", "work request on the link failed") \
	X(LINK_DEVICE,		0, "link-device", "RDMA device of the link failed or went away") \
	X(LINK_DELETED,		0, "link-deleted", "peer deleted the link") \
	X(LGR_DELETED,		0, "lgr-deleted", "peer terminated the link group") \
	X(LGR_IDLE,		0, "lgr-idle", "link group was idle") \
	X(LGR_SHUTDOWN,		0, "lgr-shutdown", "link group terminated locally") \
	/* CDC drops and violations */ \
	X(CDC_TOKEN,		0, "cdc-token", "CDC for an unknown alert token, dropped") \
	X(CDC_OLD,		0, "cdc-old", "CDC with an old or repeated sequence number, dropped") \
	X(CDC_CURSOR,		0, "cdc-cursor", "CDC cursor is outside the element") \
	X(CDC_PROD,		0, "cdc-prod", "CDC producer cursor overruns the ring or runs backwards") \
	X(CDC_CONS,		0, "cdc-cons", "CDC consumer cursor overtakes the producer or runs backwards") \
	X(CDC_AFTER_CLOSE,	0, "cdc-after-close", "CDC after the peer closed, dropped") \
	X(CDC_DATA_AFTER_DONE,	0, "cdc-data-after-done", "CDC announces data after the peer's end of data") \
	X(CDC_VALIDATION,	0, "cdc-validation", "failover validation failed: data were lost") \
	X(RMBE_EYE_CATCHER,	0, "rmbe-eye-catcher", "RMBE eye catcher was overwritten") \
	X(RMBE_CONFLICT,	0, "rmbe-conflict", "peer gave the element to another connection") \
	/* connection ends */ \
	X(PEER_ABORT,		0, "peer-abort", "peer aborted the connection") \
	X(PEER_CLOSED_UNREAD,	0, "peer-closed-unread", "peer closed while data for it were pending") \
	X(LOCAL_ABORT,		0, "local-abort", "connection aborted by the application") \
	X(LOCAL_UNREAD,		0, "local-unread", "closed with unread data") \
	X(TCP_RESET,		0, "tcp-reset", "TCP connection was reset") \
	X(TCP_FIN,		0, "tcp-fin", "TCP connection ended before the SMC-R connection") \
	X(TCP_DATA,		0, "tcp-data", "payload on TCP after the switch to SMC-R") \
	X(CLOSE_TIMEOUT,	0, "close-timeout", "peer did not finish the close in time") \
	X(ABORT_TIMEOUT,	0, "abort-timeout", "peer did not answer the abort in time") \
	X(NEG_ABORTED,		0, "neg-aborted", "socket closed during the negotiation") \
	X(KEEPALIVE,		0, "keepalive", "peer did not answer the TEST LINK of keepalive") \
	X(FIRST_LIMIT,		0x060d0000, "first-limit", "too many first contacts under way") \
	X(MEM_LIMIT,		0x060e0000, "mem-limit", "memory limit of the namespace or of the host") \
	X(MEMCG_LIMIT,		0x060f0000, "memcg-limit", "memory cgroup of the socket is full") \
	X(RKEY_UNKNOWN,		0x06100000, "rkey-unknown", "peer named an RMB that was not confirmed on the link") \
	X(SOCKMAP,		0x06110000, "sockmap", "a BPF program has put the TCP connection into a sockmap") \
	X(CDC_URGENT,		0, "cdc-urgent", "CDC calls data urgent and there are none") \
	X(RMBE_IN_USE,		0x06120000, "rmbe-in-use", "another address of the peer named an element in use") \
	X(USER_TIMEOUT,		0, "user-timeout", "peer took nothing for TCP_USER_TIMEOUT") \
	X(OTHER_HOST,		0x06130000, "other-host", "peer named a link of a group that was formed with another host") \
	X(ORPHANS,		0, "orphans", "more connections than max_orphans go on after close()") \
	X(MOVE_MEMORY,		0, "move-memory", "no memory to go on over another link") \
	X(MOVE_RKEY,		0, "move-rkey", "peer has not named its RMB on any other link") \
	X(SOCKET_REUSED,	0, "socket-reused", "data went over plain TCP on the socket before")

enum smcr_reason {
#define X(name, wire, kebab, text) SMCR_R_##name,
	SMCR_REASONS(X)
#undef X
	NR_SMCR_REASON
};

u32 smcr_reason_wire(enum smcr_reason why);
const char *smcr_reason_name(enum smcr_reason why);
const char *smcr_reason_text(enum smcr_reason why);

#endif /* _SMCR_CORE_REASON_H */
