/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The puppet peer: an SMC-R peer in user space that follows a script, which may
 * break the protocol. It uses the module's own codecs (net/core), libibverbs
 * and a plain TCP socket. See puppet.c for the script language.
 *
 *	puppet.c	script, commands, variables
 *	puppet_val.c	message fields by name: setting them, checking them
 *	puppet_tcp.c	TCP and CLC
 *	puppet_ib.c	queue pairs, memory, completions
 *	puppet_smc.c	LLC, CDC, data
 *	puppet_seq.c	macros: whole handshakes, whole close
 *	puppet_fuzz.c	random damage to all of it
 */
#ifndef _PUPPET_H
#define _PUPPET_H

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <infiniband/verbs.h>

/* shim/env.h comes first, by -include: u8 .. u64 and the like */
#include "byteio.h"
#include "proto.h"
#include "clc.h"
#include "llc.h"
#include "cdc.h"
#include "cursor.h"
#include "window.h"

enum {
	MAX_ARGS	= 48,
	MAX_LINE	= 4096,
	MAX_CONNS	= 512,
	MAX_LINKS	= 512,
	MAX_NICS	= 8,
	MAX_RMBS	= 8,		/* own RMBs */
	MAX_VARS	= 128,
	RX_DEPTH	= 256,
	RX_LEN		= 256,
	SEND_MAX	= 8192,		/* longest SEND that a script may ask for */
	TX_LEN		= 1 << 20,	/* staging area for RDMA WRITEs */
	N_ELEMS		= 16,		/* elements of the own RMB */
};

/* A SEND that arrived */
struct rxmsg {
	struct rxmsg *next;
	struct link *from;
	u32 len;
	u8 buf[RX_LEN];
};

struct rxqueue {
	struct rxmsg *head, **tail;
};

/* An RNIC: one port */
struct nic {
	char name[32];
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_comp_channel *chan;
	struct ibv_cq *cq;
	u8 port, gid_index;
	bool gid_picked;
	u8 gid[16], mac[6];
	u8 mtu;
	struct ibv_mr *rmb_mr;		/* the newest of mrs */
	struct ibv_mr *mrs[MAX_RMBS];	/* own RMBs, all of the same memory */
	struct ibv_mr *tx_mr;
};

/* A link: one queue pair */
struct link {
	char name[16];
	struct nic *nic;
	unsigned int group;		/* links of one group have the same number */
	bool confirmed;			/* CONFIRM LINK is complete */
	struct ibv_qp *qp;
	u32 qpn, psn;
	int state;			/* enum ibv_qp_state */
	bool dead;			/* a work request failed */
	bool failing;			/* a message makes the peer fail it, or reports its loss */
	u32 user_id;
	u8 num;
	u8 max_links;
	bool no_eye, peer_no_eye;
	u32 base;			/* 4 with eye catchers, else 0 */
	u8 peer_gid[16], peer_mac[6];
	u32 peer_qpn, peer_psn;
	u8 peer_mtu;
	u8 last_test[16];		/* data of the last TEST LINK that came */
	u8 last_rx[SMCR_WR_LEN];	/* the last message that came */
	struct smcr_llc asked;		/* the last CONFIRM RKEY that came */
	struct {
		u32 id;			/* the same on all links of the group */
		u32 rkey;
		u64 va;
	} rmbs[SMCR_RMBS_MAX];		/* the peer's, as announced */
	unsigned int told;		/* own RMBs announced by ADD LINK CONT */
	u32 asked_id;			/* the RMB of the last CONFIRM RKEY */
	unsigned int n_rmbs;
	struct rxqueue llc;
	u8 *rxbuf;
	struct ibv_mr *rxmr;
	u32 rx_wrs;			/* slots of rxbuf in use */
	unsigned long wr_posted, wr_done;
	int wc_status;			/* of the last completed send */
};

/* A connection: TCP and, later, an element on either side */
struct conn {
	char name[16];
	int fd, lfd;
	bool v6;
	struct link *link;		/* it sends on this one */
	struct link *rx_link;		/* of the peer's last CDC */
	u32 rmb_id;			/* the peer's RMB, 0 if it is unknown */
	bool replay;			/* the peer has moved: it may repeat CDCs */
	u16 replay_from;		/* with numbers after this one */
	u16 tx_ss;			/* number of the last completed CDC */
	u8 peer_id[8];			/* as first received in CLC */
	struct smcr_clc_proposal prop;	/* last received */
	struct smcr_clc_accept peer;	/* Accept or Confirm */
	bool have_peer;
	struct smcr_clc_decline decline;

	u8 index, bsize;
	u32 token;
	bool ringed;			/* rings below are valid */
	struct smcr_ring rx_ring, tx_ring;
	struct smcr_pos rx_prod;	/* peer wrote up to here (last CDC) */
	struct smcr_pos rx_seen;	/* compared with the pattern up to here */
	struct smcr_pos rx_cons;	/* own consumer cursor */
	u64 rx_announced;		/* rx_cons in the last CDC sent */
	u64 rx_urg;			/* one behind the newest urgent byte, 0 none */
	struct smcr_pos tx_prod, tx_cons;
	u16 tx_seq, rx_seq;
	u8 tx_cflags, rx_cflags, rx_pflags;
	unsigned int n_cdc;		/* CDCs that came */
	struct smcr_cdc last;		/* the newest of them */
	struct rxqueue cdc;		/* not yet looked at by the script */
	struct rxqueue early;		/* came before CLC was complete */
};

/* Identity and memory of the puppet */
struct self {
	u8 peer_id[8];
	u8 *rmb;			/* N_ELEMS elements */
	unsigned int n_rmbs;
	u32 elem_size;
	u8 *tx;
};

extern struct self me;
extern struct nic *nic, *nics[MAX_NICS];	/* of the current link; all */
extern struct conn *conn;		/* the current connection and link */
extern struct link *lnk;
extern struct conn *conns[MAX_CONNS];
extern struct link *links[MAX_LINKS];
extern int slow;			/* factor for time limits */

/* Values that `set` changes; defaults for everything that is sent */
struct knobs {
	u8 bsize;
	int index;			/* -1: a new one for every connection */
	s64 token;			/* -1: random */
	int psn;			/* -1: random */
	u8 max_links;
	u8 no_eye;
	u8 link_num;
	u8 auto_test;			/* TEST LINK is answered */
	u8 auto_rkey;			/* CONFIRM RKEY is accepted */
	u8 strict;			/* offences fail the script */
	u8 retry, qp_timeout;
	u8 repost;			/* receives are posted again */
	u16 rq;				/* receives of a new queue pair */
	u16 plen;
	char net[64];			/* subnet of the Proposal, a.b.c.d/n */
};
extern struct knobs knobs;

/* --- puppet.c --- */
void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* The expectation does not hold: prints, remembers, does not return */
_Noreturn void fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* The script is wrong */
_Noreturn void bad(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* The peer broke the protocol: counted, the script fails at its end */
extern int noted;			/* so far, with strict=0 as well */
void offence(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
u64 now_ms(void);
void run_line(const char *line);	/* for macros; shown with an indent */
/* The same; false if it failed, which does not end the script. @until: ms */
bool try_line(const char *line, u64 until);
extern u64 try_until;			/* no wait beyond it, if not 0 */
void conn_forget(struct conn *c);
void link_use(struct link *l);		/* it is the current one */
struct link *link_find(const char *name);	/* or bad() */
void seen_forget(void);			/* old marks of sockcmd -a */
void var_set(const char *name, const char *val);
const char *hex(const void *p, size_t len);
int parse_hex(const char *s, u8 *out, int max);	/* bytes, or bad() */
/* "100ms", "2s": true and *ms */
bool parse_time(const char *s, u64 *ms);
/* Take a time from the end of the arguments, else @def; times `slow` */
u64 take_time(int *argc, char **argv, u64 def);
u64 parse_num(const char *s);
void cmd_name(int argc, char **argv, const char *what);

/* --- puppet_val.c --- */
struct field {
	const char *name;
	u8 type;			/* F_* */
	u16 off;
	u16 len;
};
enum { F_NUM, F_BOOL, F_HEX };
#define FIELD(type_, kind_, name_, member_) \
	{ name_, kind_, offsetof(type_, member_), \
	  sizeof(((type_ *)0)->member_) }

/* name=value: sets a field (+n, -n, ^n, ~ relative to what is there) */
bool field_set(const struct field *f, void *obj, const char *arg);
/* Result of a check; for a MISS, check_text has what was found instead */
enum check { CHECK_NONE, CHECK_OK, CHECK_MISS };
extern char check_text[400];
/* name=value, !=, >=, <=: compares */
enum check field_check(const struct field *f, const void *obj,
		       const char *arg);
void field_show(const struct field *f, const void *obj, char *out, size_t len);

/* A message under way from encoder to wire: bytes can still be changed */
struct wire {
	u8 buf[SEND_MAX];
	int len;
	bool bytewise, nowait, any;	/* any: completion status does not matter */
	bool err;			/* completion must be an error */
	bool gone;			/* success or exhausted retries */
	bool skip;			/* do not count a CDC as sent */
};
/* @off=hex, xor@off=hex, cut=n, add=hex, text=.., grow=hex, bytewise, ... */
bool wire_arg(struct wire *w, const char *arg);
void wire_apply(struct wire *w, int argc, char **argv);
/* Checks on raw bytes: @off=hex */
enum check wire_check(const u8 *buf, int len, const char *arg);

/* --- puppet_tcp.c --- */
void tcp_listen(int argc, char **argv);
void tcp_accept(int argc, char **argv);
void tcp_connect(int argc, char **argv);
void tcp_opt(int argc, char **argv);
void tcp_send(const struct wire *w);
void tcp_tx(int argc, char **argv);	/* tx raw|app|fin|rst|oob */
void tcp_rx(int argc, char **argv);	/* rx app|eof|rst|end */
void clc_tx(int argc, char **argv);
void clc_rx(int argc, char **argv);
bool tcp_readable(struct conn *c);
void pick_gid(struct conn *c);

/* --- puppet_ib.c --- */
struct nic *ib_open(const char *dev, int gid_index);
void ib_close(void);
void ib_memory(void);			/* the own RMB, once */
void ib_new_rmb(void);			/* the same memory under new keys */
void qp_create(struct link *l);
void qp_receives(struct link *l, u64 n);
void qp_rtr(struct link *l);
void qp_rts(struct link *l);
void qp_err(struct link *l);
void qp_destroy(struct link *l);
int ib_send(struct link *l, const u8 *buf, u32 len, bool wait);
int ib_write(struct link *l, const u8 *src, u32 len, u64 va, u32 rkey,
	     bool imm, bool wait);
int ib_read(struct link *l, u8 *dst, u32 len, u64 va, u32 rkey);
/*
 * Handle events until @deadline, or until @done is true or @fd (or -1) is
 * readable: then true
 */
bool pump(u64 deadline, int fd, bool (*done)(void *arg), void *arg);
u8 *my_elem(const struct conn *c);

/* --- puppet_smc.c --- */
void rx_queue_init(struct rxqueue *q);
void rx_put(struct rxqueue *q, struct link *from, const u8 *buf, u32 len);
struct rxmsg *rx_take(struct rxqueue *q);
void smc_arrived(struct link *l, const u8 *buf, u32 len);
void conn_rings(struct conn *c);
/* The peer announces an RMB; withdraws it; names one in CLC */
u32 rmb_learn(struct link *l, u32 rkey, u64 va);	/* its id */
void rmb_forget(struct link *l, u32 rkey);		/* on all links */
u32 rmb_find(const struct link *l, u32 rkey);		/* id, or 0 */
void rmb_check(const struct smcr_clc_accept *a);
void llc_tx(int argc, char **argv);
void llc_rx(int argc, char **argv, bool skip);
void cdc_tx(int argc, char **argv);
void cdc_rx(int argc, char **argv, bool skip);
void rx_none(int argc, char **argv);
void link_rx_down(int argc, char **argv);
void send_raw(int argc, char **argv);
void cmd_write(int argc, char **argv);
void cmd_read(int argc, char **argv);
void data_tx(int argc, char **argv);
void data_rx(int argc, char **argv);
void cmd_again(int argc, char **argv);
void cmd_consume(int argc, char **argv);
void cmd_fill(int argc, char **argv);
void cmd_check(int argc, char **argv);

/* --- puppet_fuzz.c --- */
void cmd_fuzz(int argc, char **argv);

/* --- puppet_seq.c --- */
void seq_first_contact(int argc, char **argv);
void seq_reuse(int argc, char **argv);
void seq_add_link(int argc, char **argv);
void seq_delete_link(int argc, char **argv);
void seq_move(int argc, char **argv);
void seq_close(int argc, char **argv);

#endif /* _PUPPET_H */
