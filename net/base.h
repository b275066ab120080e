/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Common ground of the kernel shell: forward declarations, limits, module-wide
 * objects. Included first by every shell header.
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

struct smcr_net;
struct smcr_dev;
struct smcr_link;
struct smcr_lgr;
struct smcr_rmb;
struct smcr_buf;
struct smcr_conn;
struct smcr_sock;

/*
 * Steps of handshakes, as client and as server: what peers start must not be in
 * line before what we start ourselves. No step waits for the peer.
 */
extern struct workqueue_struct *smcr_hs_wq;
extern struct workqueue_struct *smcr_srv_wq;
/* RMBs: asks the peer, at most one work for each group */
extern struct workqueue_struct *smcr_rmb_wq;
/*
 * Work that takes the lock of a socket which applications know, or of its inner
 * one: a thread that holds it may be in a page fault that user space answers
 * when it likes (userfaultfd, FUSE).
 */
extern struct workqueue_struct *smcr_sock_wq;
/*
 * Short work: LLC, timers. Nothing on it waits for a peer, nor for user memory.
 */
extern struct workqueue_struct *smcr_wq;
/*
 * The ends of link groups: verbs, and what a device takes to flush a queue
 * pair. Nothing on it waits for a peer.
 */
extern struct workqueue_struct *smcr_end_wq;

/* Timers of the conformance catalogue, B.5; defaults of the sysctls */
#define SMCR_T_CLC_DEFAULT		(10 * 1000)	/* ms */
#define SMCR_T_LLC_FIRST_DEFAULT	(10 * 1000)
#define SMCR_T_LLC_DEFAULT		(4 * 1000)
#define SMCR_T_LGR_IDLE_DEFAULT		(600 * 1000)
#define SMCR_T_CLOSE_DEFAULT		(60 * 1000)
#define SMCR_T_ABORT_DEFAULT		(10 * 1000)
#define SMCR_T_TESTLINK_DEFAULT		(30 * 1000)
#define SMCR_T_RMB_FREE_DEFAULT		(60 * 1000)

/* Also the most that a namespace other than the initial one can have */
#define SMCR_MAX_LGRS_DEFAULT		1024
#define SMCR_MAX_HANDSHAKES_DEFAULT	4096
#define SMCR_MAX_FIRST_DEFAULT		256

#define SMCR_BUF_DEFAULT		(256 * 1024)	/* net.smcr.rmem, wmem */

#endif /* _SMCR_BASE_H */
