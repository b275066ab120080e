// SPDX-License-Identifier: GPL-2.0-only
/*
 * CLC messages over the inner TCP socket (RFC 7609 A.2, C.5, C.6): no read waits,
 * and each takes exactly the bytes of one message.
 */
#include <net/tcp.h>
#include "base/trace.h"
#include "hs/kclc.h"

/* Copy up to @len unread bytes, which stay unread; inner socket locked */
static u32 clc_peek(struct sock *tsk, u8 *buf, u32 len)
{
	u32 seq = tcp_sk(tsk)->copied_seq, got = 0;
	struct sk_buff *skb;

	skb_queue_walk(&tsk->sk_receive_queue, skb) {
		u32 off = seq - TCP_SKB_CB(skb)->seq, n;

		/* as in tcp_recvmsg(): a SYN has one sequence number, before those of its data */
		if (TCP_SKB_CB(skb)->tcp_flags & TCPHDR_SYN)
			off--;
		if (off >= skb->len)
			continue;
		n = min(skb->len - off, len - got);
		if (skb_copy_bits(skb, off, buf + got, n))
			break;
		got += n;
		seq += n;
		if (got == len)
			break;
	}
	return got;
}

/* Will nothing come any more? Inner socket locked */
static bool clc_ended(const struct sock *tsk)
{
	return (tsk->sk_shutdown & RCV_SHUTDOWN) || tsk->sk_err ||
	       tsk->sk_state == TCP_CLOSE;
}

/**
 * smcr_hs_clc_due() - has the CLC message come that the handshake waits for?
 * @ssk: socket in a handshake with ssk->hs_want set; inner socket locked
 *
 * Context: any up to softirq.
 * Return: true if the message is complete or not a valid one, or if it cannot
 * come any more.
 */
bool smcr_hs_clc_due(struct smcr_sock *ssk)
{
	u8 want = READ_ONCE(ssk->hs_want);
	struct sock *tsk = ssk->tcp->sk;
	enum smcr_reason why;
	struct smcr_clc_hdr hdr;
	u8 buf[SMCR_CLC_HDR_LEN];

	if (clc_ended(tsk))
		return true;
	if (clc_peek(tsk, buf, sizeof(buf)) < sizeof(buf))
		return false;
	if (smcr_clc_decode_hdr(buf, sizeof(buf), &hdr, &why))
		return true;
	if (hdr.type != want && hdr.type != SMCR_CLC_DECLINE)
		return true;
	return tcp_inq(tsk) >= hdr.len;
}

/* The error for a message that is not complete. @ended: the rest will not come */
static int clc_incomplete(struct smcr_sock *ssk, bool ended,
			  enum smcr_reason *why)
{
	if (ended) {
		*why = SMCR_R_CLC_EOF;
		return -ECONNRESET;
	}
	smcr_count(ssk->sn, SMCR_CNT_T_CLC);
	*why = SMCR_R_CLC_TIMEOUT;
	return -ETIMEDOUT;
}

/* Read exactly @len bytes; on error @why is set */
static int clc_read(struct smcr_sock *ssk, u8 *buf, size_t len,
		    enum smcr_reason *why)
{
	size_t got = 0;

	while (got < len) {
		struct kvec vec = { buf + got, len - got };
		struct msghdr msg = { .msg_flags = MSG_DONTWAIT };
		int rc;

		rc = kernel_recvmsg(ssk->tcp, &msg, &vec, 1, len - got,
				    MSG_DONTWAIT);
		if (rc <= 0)
			return clc_incomplete(ssk, rc != -EAGAIN, why);
		got += rc;
	}
	return 0;
}

static void clc_count_rx(struct smcr_sock *ssk, u8 type)
{
	static const enum smcr_counter cnt[] = {
		[SMCR_CLC_PROPOSAL] = SMCR_CNT_CLC_RX_PROPOSAL,
		[SMCR_CLC_ACCEPT] = SMCR_CNT_CLC_RX_ACCEPT,
		[SMCR_CLC_CONFIRM] = SMCR_CNT_CLC_RX_CONFIRM,
		[SMCR_CLC_DECLINE] = SMCR_CNT_CLC_RX_DECLINE,
	};

	smcr_count(ssk->sn, cnt[type]);
}

static int clc_decode(const u8 *buf, struct smcr_clc_msg *msg,
		      enum smcr_reason *why)
{
	switch (msg->hdr.type) {
	case SMCR_CLC_PROPOSAL:
		return smcr_clc_decode_proposal(buf, msg->hdr.len,
						&msg->proposal, why);
	case SMCR_CLC_ACCEPT:
	case SMCR_CLC_CONFIRM:
		return smcr_clc_decode_accept(buf, msg->hdr.len, &msg->accept,
					      why);
	default:
		return smcr_clc_decode_decline(buf, msg->hdr.len,
					       &msg->decline, why);
	}
}

/*
 * Decode the header of the next message, which stays unread: the message is then read by one
 * call. Returns as smcr_clc_recv().
 */
static int clc_peek_hdr(struct smcr_sock *ssk, struct smcr_clc_hdr *hdr,
			enum smcr_reason *why)
{
	struct sock *tsk = ssk->tcp->sk;
	u8 buf[SMCR_CLC_HDR_LEN];
	bool ended;
	u32 got;

	lock_sock(tsk);
	got = clc_peek(tsk, buf, sizeof(buf));
	ended = clc_ended(tsk);
	release_sock(tsk);
	if (got < sizeof(buf))
		return clc_incomplete(ssk, ended, why);
	return smcr_clc_decode_hdr(buf, sizeof(buf), hdr, why);
}

/**
 * smcr_clc_recv() - read exactly one CLC message
 * @ssk: socket in a handshake
 * @want: enum smcr_clc_type that is due; a Decline is always acceptable
 * @msg: result
 * @why: reason on error
 *
 * Consumes exactly the message's length (CLC-08). Does not wait for the peer,
 * so it is called when smcr_hs_clc_due() is true, or when the wait has expired.
 *
 * Context: process.
 * Return: 0; -EPROTO malformed or not due; -ETIMEDOUT not complete;
 * -ECONNRESET TCP ended; -ENOMEM.
 */
int smcr_clc_recv(struct smcr_sock *ssk, u8 want, struct smcr_clc_msg *msg,
		  enum smcr_reason *why)
{
	u8 *buf;
	int rc;

	msg->too_new = false;
	rc = clc_peek_hdr(ssk, &msg->hdr, why);
	if (rc)
		return rc;
	if (msg->hdr.type != want && msg->hdr.type != SMCR_CLC_DECLINE) {
		*why = SMCR_R_CLC_UNEXPECTED;
		return -EPROTO;
	}
	buf = kmalloc(msg->hdr.len, GFP_KERNEL);
	if (!buf) {
		*why = SMCR_R_NO_MEMORY;
		return -ENOMEM;
	}
	rc = clc_read(ssk, buf, msg->hdr.len, why);
	if (!rc) {
		rc = clc_decode(buf, msg, why);
		/*
		 * A Proposal of a later version that cannot be decoded is not
		 * an error, so that the peer gets a Decline. But without both
		 * eye catchers it is no CLC message at all.
		 */
		msg->too_new = rc && msg->hdr.type == SMCR_CLC_PROPOSAL &&
			       msg->hdr.version > SMCR_CLC_VERSION &&
			       *why != SMCR_R_CLC_EYE_CATCHER;
	}
	kfree(buf);
	if (rc && !msg->too_new)
		return rc;
	clc_count_rx(ssk, msg->hdr.type);
	trace_smcr_clc(false, msg->hdr.type, msg->hdr.len, msg->hdr.flag);
	return 0;
}

static int clc_send(struct smcr_sock *ssk, u8 *buf, int len,
		    enum smcr_counter cnt)
{
	struct msghdr msg = { .msg_flags = MSG_NOSIGNAL | MSG_DONTWAIT };
	struct kvec vec = { buf, len };
	int rc;

	if (len < 0)
		return len;
	/* the send buffer of a new connection holds any CLC message */
	rc = kernel_sendmsg(ssk->tcp, &msg, &vec, 1, len);
	if (rc != len)
		return rc < 0 ? rc : -EPIPE;
	smcr_count(ssk->sn, cnt);
	trace_smcr_clc(true, buf[4], len, buf[7] & 0x08);
	return 0;
}

/**
 * smcr_clc_send_proposal() - send a Proposal
 * @ssk: socket in a handshake
 * @p: message
 *
 * Context: process; does not wait.
 * Return: 0 or a negative errno of the TCP socket.
 */
int smcr_clc_send_proposal(struct smcr_sock *ssk,
			   const struct smcr_clc_proposal *p)
{
	u8 buf[SMCR_CLC_PROPOSAL_MIN +
	       SMCR_CLC_MAX_PREFIX * SMCR_CLC_PREFIX_LEN];

	return clc_send(ssk, buf,
			smcr_clc_encode_proposal(p, buf, sizeof(buf)),
			SMCR_CNT_CLC_TX_PROPOSAL);
}

/**
 * smcr_clc_send_accept() - send an Accept or a Confirm
 * @ssk: socket in a handshake
 * @a: message
 *
 * Context: process; does not wait.
 * Return: 0 or a negative errno of the TCP socket.
 */
int smcr_clc_send_accept(struct smcr_sock *ssk, const struct smcr_clc_accept *a)
{
	u8 buf[SMCR_CLC_ACCEPT_LEN];

	return clc_send(ssk, buf,
			smcr_clc_encode_accept(a, buf, sizeof(buf)),
			a->type == SMCR_CLC_ACCEPT ?
			SMCR_CNT_CLC_TX_ACCEPT : SMCR_CNT_CLC_TX_CONFIRM);
}

/**
 * smcr_clc_send_decline() - send a Decline
 * @ssk: socket in a handshake
 * @why: reason, which has a code on the wire
 *
 * Context: process; does not wait.
 * Return: 0 or a negative errno of the TCP socket.
 */
int smcr_clc_send_decline(struct smcr_sock *ssk, enum smcr_reason why)
{
	struct smcr_clc_decline d = {
		.out_of_sync = why == SMCR_R_OUT_OF_SYNC,
		.diagnosis = smcr_reason_wire(why),
	};
	u8 buf[SMCR_CLC_DECLINE_LEN];

	smcr_local_peer_id(ssk->sn, d.peer_id);
	return clc_send(ssk, buf,
			smcr_clc_encode_decline(&d, buf, sizeof(buf)),
			SMCR_CNT_CLC_TX_DECLINE);
}

static int clc_eat(read_descriptor_t *desc, struct sk_buff *skb,
		   unsigned int off, size_t len)
{
	len = min(len, desc->count);
	desc->count -= len;
	return len;
}

/**
 * smcr_clc_note_decline() - record and log the diagnosis of the peer's Decline
 * @ssk: socket
 * @d: Decline
 *
 * Context: any up to softirq.
 */
void smcr_clc_note_decline(struct smcr_sock *ssk,
			   const struct smcr_clc_decline *d)
{
	WRITE_ONCE(ssk->peer_diag, d->diagnosis);
	net_info_ratelimited("peer %*phN declined, diagnosis 0x%08x%s\n",
			     (int)sizeof(d->peer_id), d->peer_id, d->diagnosis,
			     d->out_of_sync ? ", out of sync" : "");
}

/* Are the @len bytes one Decline, from the peer ssk->crossed_id? */
static bool clc_is_crossed(const struct smcr_sock *ssk, const u8 *buf,
			   u32 len, struct smcr_clc_hdr *hdr,
			   struct smcr_clc_decline *d)
{
	enum smcr_reason why;

	return len == SMCR_CLC_DECLINE_LEN &&
	       !smcr_clc_decode_hdr(buf, SMCR_CLC_HDR_LEN, hdr, &why) &&
	       hdr->type == SMCR_CLC_DECLINE && hdr->version == 1 &&
	       hdr->len == len && !hdr->flag &&
	       !smcr_clc_decode_decline(buf, len, d, &why) &&
	       !memcmp(d->peer_id, ssk->crossed_id, sizeof(ssk->crossed_id));
}

/**
 * smcr_clc_drop_crossed() - drop the peer's Decline if it has crossed our own
 * @ssk: socket with SMCR_SK_CROSSED, which has sent a Decline; inner socket
 *	locked
 *
 * Both sides may decline a first contact at the same time (CLC-57, CLC-58).
 * Then each Decline would be the first data that the application on the other
 * side reads from TCP, however late TCP delivers it. The peer's Decline is
 * recognized by the peer ID in it. It is dropped only if it is complete: TCP
 * does not split so short a message that is sent in one call.
 *
 * Context: any up to softirq.
 * Return: true if a Decline was dropped.
 */
bool smcr_clc_drop_crossed(struct smcr_sock *ssk)
{
	struct sock *tsk = ssk->tcp->sk;
	u8 buf[SMCR_CLC_DECLINE_LEN];
	struct smcr_clc_decline d;
	read_descriptor_t desc = {};
	struct smcr_clc_hdr hdr;
	u32 got;

	got = clc_peek(tsk, buf, sizeof(buf));
	if (!got)
		return false;
	clear_bit(SMCR_SK_CROSSED, &ssk->flags);
	if (!clc_is_crossed(ssk, buf, got, &hdr, &d))
		return false;
	desc.count = got;
	tcp_read_sock(tsk, &desc, clc_eat);
	clc_count_rx(ssk, hdr.type);
	trace_smcr_clc(false, hdr.type, hdr.len, hdr.flag);
	smcr_clc_note_decline(ssk, &d);
	return true;
}

/**
 * smcr_tcp_await_decline() - drop the peer's Decline, now or when it comes
 * @ssk: hooked socket (smcr_tcp_hook()) that has just sent a Decline and is not
 *	yet in mode TCP
 * @peer_id: the peer's ID, 8 bytes
 *
 * The Decline is dropped only if the peer has sent nothing else before it.
 *
 * Context: process; takes the inner socket's lock.
 */
void smcr_tcp_await_decline(struct smcr_sock *ssk, const u8 *peer_id)
{
	lock_sock(ssk->tcp->sk);
	memcpy(ssk->crossed_id, peer_id, sizeof(ssk->crossed_id));
	set_bit(SMCR_SK_CROSSED, &ssk->flags);
	smcr_clc_drop_crossed(ssk);
	release_sock(ssk->tcp->sk);
}

/**
 * smcr_tcp_settle() - drop a crossed Decline before the application reads
 * @ssk: socket in mode TCP
 *
 * TCP does not call back for fewer bytes than SO_RCVLOWAT. So this function is
 * called before the inner socket's data are read, and does what the callback
 * does.
 *
 * Context: process; takes the inner socket's lock if a Decline may come.
 */
void smcr_tcp_settle(struct smcr_sock *ssk)
{
	struct sock *tsk = ssk->tcp->sk;

	if (likely(!test_bit(SMCR_SK_CROSSED, &ssk->flags)))
		return;
	lock_sock(tsk);
	if (test_bit(SMCR_SK_CROSSED, &ssk->flags) && !smcr_tcp_taken(ssk))
		smcr_clc_drop_crossed(ssk);
	release_sock(tsk);
}
