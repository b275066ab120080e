/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Common declarations of the kernel shell: structures of all floors,
 * workqueues.
 *
 * The kernel shell is all of net/ but net/core/. The floors are the folders of
 * net/; a floor calls a higher one only through tables (wire.c).
 */
#ifndef _SMCR_BASE_H
#define _SMCR_BASE_H

#include <linux/kernel.h>
#include <linux/types.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/workqueue.h>
#include <linux/wait.h>
#include <net/sock.h>

#include "core/proto.h"
#include "core/reason.h"
#include "base/states.h"

struct smcr_net;
struct smcr_dev;
struct smcr_link;
struct smcr_lgr;
struct smcr_rmb;
struct smcr_buf;
struct smcr_conn;
struct smcr_sock;

/*
 * Steps of handshakes, as client and as server. Two queues, so that handshakes
 * that peers start do not delay those that this host starts. No step waits for
 * the peer.
 */
extern struct workqueue_struct *smcr_hs_wq;
extern struct workqueue_struct *smcr_srv_wq;
/* Work on RMBs, one for each group at most; it waits for replies of the peer */
extern struct workqueue_struct *smcr_rmb_wq;
/*
 * Work that takes the lock of an application's socket, or of its inner socket.
 * A thread that holds such a lock may be in a page fault, and user space may
 * delay the page without limit (userfaultfd, FUSE).
 */
extern struct workqueue_struct *smcr_sock_wq;
/*
 * Short work: LLC, timers. Nothing on this queue waits for a peer or for user
 * memory.
 */
extern struct workqueue_struct *smcr_wq;
/*
 * Creation, activation and stop of links, and the end of link groups. A work
 * lasts as long as the device needs for verbs, or for the flush of a queue
 * pair. Nothing on this queue waits for a peer.
 */
extern struct workqueue_struct *smcr_end_wq;

unsigned int smcr_work_end(struct delayed_work *work);

int smcr_wq_init(void);
void smcr_wq_exit(void);

#endif /* _SMCR_BASE_H */
