/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fault points and their actions. A line here makes a file in
 * debugfs/rnicsim/<device>/fault/ and a row in Documentation/rnicsim.rst; the
 * code calls rs_fault() with the name of the point that it passes.
 *
 * Adding one: a line here, the call, scripts/docs-tables for rnicsim.rst, a step of
 * rnictest and one of cases 89* that checks what the module does. test_lib.py fails
 * for a point that nothing passes, or that no program or case sets.
 */
#ifndef _RNICSIM_FAULTS_H
#define _RNICSIM_FAULTS_H

/* X(NAME, name, what "fail" does there) */
#define RS_FAULTS(X)							\
	X(QUERY_PORT, query_port, "EIO")				\
	X(ALLOC_PD, alloc_pd, "ENOMEM")					\
	X(CREATE_CQ, create_cq, "ENOMEM")				\
	X(CREATE_QP, create_qp, "ENOMEM")				\
	X(DESTROY_QP, destroy_qp, "nothing, for other actions")		\
	X(TO_INIT, to_init, "ENOMEM")					\
	X(TO_RTR, to_rtr, "ENOMEM")					\
	X(TO_RTS, to_rts, "ENOMEM")					\
	X(TO_ERR, to_err, "EIO, the queue pair stays as it is")		\
	X(ALLOC_MR, alloc_mr, "ENOMEM")					\
	X(MAP_MR, map_mr, "ENOMEM")					\
	X(DEREG_MR, dereg_mr, "EBUSY, valid until the device goes")	\
	X(DMA_MAP, dma_map, "mapping error, with shadow only")		\
	X(ADD_GID, add_gid, "ENOMEM")					\
	X(POST_SEND, post_send, "ENOMEM at this request of the chain")	\
	X(POST_RECV, post_recv, "ENOMEM at this request of the chain")	\
	X(REG_MR, reg_mr, "the request completes in error")		\
	X(TX_WRITE, tx_write, "cut before the first byte of a WRITE")	\
	X(TX_MID, tx_mid, "cut in the midst of a WRITE")		\
	X(TX_SEND, tx_send, "cut after the WRITEs, before the SEND")	\
	X(RX_SEND, rx_send, "receiver not ready NAK")			\
	X(TX_ACK, tx_ack, "acknowledgment lost")			\
	X(WC_SEND, wc_send, "completion in error")			\
	X(WC_RECV, wc_recv, "completion in error")			\
	X(INTERRUPT, interrupt, "interrupt lost")

/*
 * Messages of SMC-R that a device sends, 44 bytes by SEND. The first byte is
 * the type; the top bit of the fourth byte of an LLC message is set if it is a
 * reply. X(NAME, name, type, reply)
 */
#define RS_MSGS(X)							\
	X(MSG_CDC, msg_cdc, 0xfe, 0)					\
	X(MSG_CONFIRM_LINK, msg_confirm_link, 0x01, 0)			\
	X(MSG_CONFIRM_LINK_REPLY, msg_confirm_link_reply, 0x01, 1)	\
	X(MSG_ADD_LINK, msg_add_link, 0x02, 0)				\
	X(MSG_ADD_LINK_REPLY, msg_add_link_reply, 0x02, 1)		\
	X(MSG_ADD_LINK_CONT, msg_add_link_cont, 0x03, 0)		\
	X(MSG_ADD_LINK_CONT_REPLY, msg_add_link_cont_reply, 0x03, 1)	\
	X(MSG_DELETE_LINK, msg_delete_link, 0x04, 0)			\
	X(MSG_DELETE_LINK_REPLY, msg_delete_link_reply, 0x04, 1)	\
	X(MSG_CONFIRM_RKEY, msg_confirm_rkey, 0x06, 0)			\
	X(MSG_CONFIRM_RKEY_REPLY, msg_confirm_rkey_reply, 0x06, 1)	\
	X(MSG_TEST_LINK, msg_test_link, 0x07, 0)			\
	X(MSG_TEST_LINK_REPLY, msg_test_link_reply, 0x07, 1)		\
	X(MSG_CONFIRM_RKEY_CONT, msg_confirm_rkey_cont, 0x08, 0)	\
	X(MSG_CONFIRM_RKEY_CONT_REPLY, msg_confirm_rkey_cont_reply, 0x08, 1)\
	X(MSG_DELETE_RKEY, msg_delete_rkey, 0x09, 0)			\
	X(MSG_DELETE_RKEY_REPLY, msg_delete_rkey_reply, 0x09, 1)

/*
 * X(NAME, name, what it does). The actions from FAIL on depend on the point;
 * those from DROP on do nothing at a point that has no use for them.
 */
#define RS_ACTIONS(X)							\
	X(NONE, none, "nothing, but the hit is counted")		\
	X(QP_ERR, qp_err, "queue pair to ERR without an event")		\
	X(QP_FATAL, qp_fatal, "queue pair to ERR and QP_FATAL")		\
	X(MUTE, mute, "queue pair: nothing leaves or arrives any more")	\
	X(PAUSE, pause, "device: engine stands still")			\
	X(PORT_ERR, port_err, "port down until port_active")		\
	X(PORT_ACTIVE, port_active, "port as its netdev is")		\
	X(GID_CHANGE, gid_change, "default GIDs are renewed, with GID_CHANGE")			\
	X(DEVICE_FATAL, device_fatal, "event DEVICE_FATAL, all queue pairs to ERR") \
	X(REMOVE, remove, "device is removed")				\
	X(FAIL, fail, "what the point says")				\
	X(DROP, drop, "packet, acknowledgment, completion, interrupt or message lost once") \
	X(TWICE, twice, "completion or message doubled")		\
	X(DELAY, delay, "message and all behind it, or what a verb does, ARG ms later") \
	X(CORRUPT, corrupt, "byte ARG of the message inverted")

enum rs_fault_pt {
#define X(id, name, text) RS_F_##id,
	RS_FAULTS(X)
#undef X
	RS_F_MSG_ANY,			/* passed before that of its type */
#define X(id, name, type, reply) RS_F_##id,
	RS_MSGS(X)
#undef X
	RS_FAULTS_N
};

enum rs_action {
#define X(id, name, text) RS_A_##id,
	RS_ACTIONS(X)
#undef X
	RS_ACTIONS_N
};

/**
 * struct rs_fault_set - setting of a fault point of a device; rs_dev.lock
 * @next: passes up to and including the one with the fault; 0 if not by count
 * @times: number of passes with the fault from @next on, U32_MAX for ever
 * @ppm: probability of the fault at each pass, in millionths
 * @action: enum rs_action
 * @arg: errno or completion status for RS_A_FAIL, 0 for the usual one;
 *	milliseconds for RS_A_DELAY; number of the byte for RS_A_CORRUPT
 * @passes: number of passes of the point
 * @fired: number of passes with the fault
 */
struct rs_fault_set {
	u32 next;
	u32 times;
	u32 ppm;
	u32 action;
	u32 arg;
	u64 passes;
	u64 fired;
};

#endif /* _RNICSIM_FAULTS_H */
