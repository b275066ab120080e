// SPDX-License-Identifier: GPL-2.0-only
/*
 * Receipt of urgent data, as on TCP, by core/urgent.h (RFC 7609 4.7.5, 4.7.6). The mark
 * is the position of the urgent byte. A read stops before the mark.
 */
#include <net/tcp.h>
#include "conn/conn.h"
#include "conn/smcr_sock.h"

static bool rx_inlined(const struct smcr_conn *conn)
{
	return sock_flag(&smcr_conn_sock(conn)->sk, SOCK_URGINLINE);
}

/*
 * The byte at the mark, one before the producer position. The caller keeps a copy, as
 * the peer may write over that place before the application has read the byte.
 */
static u8 rx_byte(const struct smcr_conn *conn)
{
	u32 off = conn->rx.prod.off, at, run;

	off = off ? off - 1 : smcr_ring_cap(&conn->rx.ring) - 1;
	at = conn->own.elem.off + conn->rx.ring.base + off;
	return *(u8 *)smcr_buf_at(conn->own.buf, at, 1, &run);
}

/**
 * smcr_rx_urg_news() - process the news of a CDC about urgent data
 * @conn: connection, conn->lock held
 * @ev: SMCR_URG_EV_*
 *
 * When urgent data are first announced, SIGURG is sent; from then on poll() reports
 * POLLPRI (CDC-35).
 */
void smcr_rx_urg_news(struct smcr_conn *conn, int ev)
{
	struct sock *sk = &smcr_conn_sock(conn)->sk;

	lockdep_assert_held(&conn->lock);

	if (ev & SMCR_URG_EV_BYTE) {
		conn->rx.urg.byte = rx_byte(conn);
		smcr_rx_settle(conn);
	}
	if (!conn->active || conn->fsm.app_closed)
		return;
	if (ev & SMCR_URG_EV_NEWS) {
		read_lock(&sk->sk_callback_lock);	/* keeps sk_socket */
		sk_send_sigurg(sk);
		read_unlock(&sk->sk_callback_lock);
	}
	sk->sk_data_ready(sk);
}

/*
 * As tcp_recv_urg(): 1 if there is an urgent byte, 0 if none will come, or a negative
 * errno. conn->lock held.
 */
static int rx_have_urg(struct smcr_sock *ssk)
{
	struct smcr_conn *conn = &ssk->conn;
	struct sock *sk = &ssk->sk;

	lockdep_assert_held(&conn->lock);

	switch (conn->rx.urg.state) {
	case SMCR_URG_NONE:
	case SMCR_URG_READ:
		return -EINVAL;
	default:
		break;
	}
	if (rx_inlined(conn))
		return -EINVAL;
	if (sk->sk_state == TCP_CLOSE && !conn->fsm.rx_done &&
	    !conn->fsm.rx_closed)
		return -ENOTCONN;
	if (conn->rx.urg.state == SMCR_URG_PRESENT)
		return 1;
	return sk->sk_state == TCP_CLOSE || (sk->sk_shutdown & RCV_SHUTDOWN) ?
	       0 : -EAGAIN;
}

/**
 * smcr_rx_recv_urg() - recv(MSG_OOB)
 * @ssk: socket in mode SMC, socket lock held
 * @msg: message
 * @len: bytes wanted
 * @flags: MSG_PEEK, MSG_TRUNC as on TCP
 *
 * Never waits.
 *
 * Return: as tcp_recvmsg(): 1 with the byte, 0, or a negative errno.
 */
int smcr_rx_recv_urg(struct smcr_sock *ssk, struct msghdr *msg, size_t len,
		     int flags)
{
	struct smcr_conn *conn = &ssk->conn;
	u8 byte;
	int rc;

	sock_owned_by_me(&ssk->sk);

	spin_lock_bh(&conn->lock);
	rc = rx_have_urg(ssk);
	byte = conn->rx.urg.byte;
	if (rc == 1 && !(flags & MSG_PEEK))
		WRITE_ONCE(conn->rx.urg.state, SMCR_URG_READ);
	spin_unlock_bh(&conn->lock);
	if (rc != 1)
		return rc;
	msg->msg_flags |= MSG_OOB;
	if (!len) {
		msg->msg_flags |= MSG_TRUNC;
		return 0;
	}
	if (!(flags & MSG_TRUNC) && memcpy_to_msg(msg, &byte, 1))
		return -EFAULT;
	return 1;
}

/**
 * smcr_rx_poll() - poll events of the receive side
 * @ssk: socket in mode SMC
 *
 * As tcp_poll(), with two differences. POLLPRI is reported even before the urgent byte has
 * arrived (RFC 7609 4.7.5). Data before the mark are readable whatever SO_RCVLOWAT is,
 * as no more data come until these are read.
 *
 * Return: EPOLLIN | EPOLLRDNORM, EPOLLPRI.
 */
__poll_t smcr_rx_poll(struct smcr_sock *ssk)
{
	struct smcr_conn *conn = &ssk->conn;
	u64 n = smcr_conn_readable(conn);
	int lowat = sock_rcvlowat(&ssk->sk, 0, INT_MAX);
	__poll_t mask = 0;

	if (smcr_conn_urgent(conn)) {
		spin_lock_bh(&conn->lock);
		smcr_rx_settle(conn);	/* SO_OOBINLINE may have changed */
		smcr_rx_window(conn);
		n = smcr_urg_rx_ahead(&conn->rx.urg, conn->rx.prod.abs,
				      conn->rx.ackable.abs, rx_inlined(conn));
		if (smcr_urg_rx_marked(&conn->rx.urg))
			lowat = 1;
		if (conn->rx.urg.state == SMCR_URG_PENDING ||
		    conn->rx.urg.state == SMCR_URG_PRESENT)
			mask |= EPOLLPRI;
		spin_unlock_bh(&conn->lock);
	}
	if (n >= lowat)
		mask |= EPOLLIN | EPOLLRDNORM;
	return mask;
}

/**
 * smcr_rx_inq() - SIOCINQ
 * @ssk: socket in mode SMC
 *
 * Return: bytes that can be read, up to the mark; as tcp_inq().
 */
u64 smcr_rx_inq(struct smcr_sock *ssk)
{
	struct smcr_conn *conn = &ssk->conn;
	u64 n = smcr_conn_readable(conn);

	if (!smcr_conn_urgent(conn))
		return n;
	spin_lock_bh(&conn->lock);
	n = smcr_urg_rx_ahead(&conn->rx.urg, conn->rx.prod.abs,
			      conn->rx.ackable.abs, rx_inlined(conn));
	if (smcr_urg_rx_marked(&conn->rx.urg) && !rx_inlined(conn))
		n = conn->rx.urg.mark > conn->rx.ackable.abs ?
		    conn->rx.urg.mark - conn->rx.ackable.abs : 0;
	spin_unlock_bh(&conn->lock);
	return n;
}

/**
 * smcr_rx_at_mark() - SIOCATMARK
 * @conn: connection
 */
bool smcr_rx_at_mark(struct smcr_conn *conn)
{
	bool at;

	if (!smcr_conn_urgent(conn))
		return false;
	spin_lock_bh(&conn->lock);
	at = smcr_urg_rx_at_mark(&conn->rx.urg, conn->rx.ackable.abs);
	spin_unlock_bh(&conn->lock);
	return at;
}
