/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * States of sockets, link groups and links: for each a list of the numbers and
 * of the names in netlink and traces.
 */
#ifndef _SMCR_STATES_H
#define _SMCR_STATES_H

/* Mode of a socket: X(NAME, name in netlink, "name in traces") */
#define SMCR_MODES(X) \
	/* not connected, not listening; bound or not */ \
	X(INIT,		INIT,		"init") \
	/* inner socket listens */ \
	X(LISTEN,	LISTEN,		"listen") \
	/* TCP connects or the handshake runs */ \
	X(HANDSHAKE,	NEGOTIATING,	"neg") \
	/* connection over RDMA; the TCP connection is idle */ \
	X(SMC,		SMC_R,		"smc") \
	/* fallback: every call is forwarded to the inner socket */ \
	X(TCP,		TCP,		"tcp") \
	/* connect or handshake failed, with sk_err */ \
	X(DEAD,		DEAD,		"dead")

enum smcr_mode {
#define X(name, nl, word) SMCR_MODE_##name,
	SMCR_MODES(X)
#undef X
	NR_SMCR_MODE
};

/* Link group: X(NAME, "name in traces"); netlink has the same names */
#define SMCR_LGR_STATES(X) \
	/* first contact is under way: the group is not for reuse */ \
	X(FORMING,	"FORMING") \
	X(ACTIVE,	"ACTIVE") \
	/* ended: not for reuse, connections are lost; listed until released */ \
	X(DEAD,		"DEAD")

enum smcr_lgr_st {
#define X(name, word) SMCR_LGR_ST_##name,
	SMCR_LGR_STATES(X)
#undef X
	NR_SMCR_LGR_ST
};

/*
 * State of a link's QP as the link records it; the device is never queried:
 *
 *	X(NAME, name in netlink, "name in traces")
 */
#define SMCR_LINK_STATES(X) \
	X(RESET,	RESET,	"RESET") \
	X(INIT,		INIT,	"INIT") \
	X(RTR,		RTR,	"RTR") \
	X(RTS,		RTS,	"RTS") \
	X(ERR,		ERROR,	"ERR")

enum smcr_link_st {
#define X(name, nl, word) SMCR_LINK_ST_##name,
	SMCR_LINK_STATES(X)
#undef X
	NR_SMCR_LINK_ST
};

#endif /* _SMCR_STATES_H */
