// SPDX-License-Identifier: GPL-2.0-only
/*
 * The wiring: tables of the functions that each floor calls in those above it.
 * A floor is a folder of net/ (base/base.h). A table is declared on the floor
 * that calls its functions. A higher floor is called in no other way.
 */
#include "rdma/dev.h"
#include "rdma/link.h"
#include "lgr/lgr.h"
#include "lgr/lgr_dev.h"
#include "lgr/lgr_end.h"
#include "lgr/lgr_rnics.h"
#include "lgr/lgr_run.h"
#include "conn/conn.h"
#include "conn/keepalive.h"
#include "hs/hs.h"
#include "sock/sock_impl.h"
#include "ctl/nl.h"
#include "wire.h"

static void wire_dev_arrived(void)
{
	smcr_listeners_kick();
	smcr_lgr_dev_arrived();
}

static const struct smcr_dev_ops wire_dev = {
	.arrived	= wire_dev_arrived,
	.port_changed	= smcr_lgr_port_event,
	.removed	= smcr_lgr_kill_dev,
	.shutdown	= smcr_lgr_shutdown,
};

static const struct smcr_link_ops wire_link = {
	.rx_cdc	= smcr_conn_rx_cdc,
	.rx_llc	= smcr_llc_rx,
	.down	= smcr_lgr_link_down,
	.room	= smcr_tx_room,
	.freed	= smcr_lgr_dev_put,
};

static const struct smcr_lgr_ops wire_lgr = {
	.lose_conns	= smcr_conn_lose_all,
	.move_conns	= smcr_conn_move_all,
	.link_stays	= smcr_conn_stay_all,
	.spread_conns	= smcr_conn_spread_all,
	.late_conns	= smcr_conn_late_all,
	.agreed		= smcr_conn_agreed,
	.link_gone	= smcr_tx_link_gone,
	.keepalive_due	= smcr_keepalive_due,
	.event		= smcr_nl_event,
};

static const struct smcr_conn_ops wire_conn = {
	.undefer	= smcr_child_undefer,
	.link_lost	= smcr_hs_kick,
	.put		= smcr_sock_put,
};

static const struct smcr_hs_ops wire_hs = {
	.tcp_check		= smcr_tcp_check,
	.tcp_begin		= smcr_tcp_begin,
	.to_tcp			= smcr_sockopt_to_tcp,
	.child_ready		= smcr_child_ready,
	.child_failed		= smcr_child_failed,
	.child_defer_end	= smcr_child_defer_end,
	.listener_busy		= smcr_listener_busy,
};

/**
 * smcr_wire() - set the tables through which floors call those above them
 *
 * Called before anything else of the module. Context: process.
 */
void __init smcr_wire(void)
{
	smcr_dev_owner_ops = &wire_dev;
	smcr_link_owner_ops = &wire_link;
	smcr_lgr_owner_ops = &wire_lgr;
	smcr_conn_owner_ops = &wire_conn;
	smcr_hs_owner_ops = &wire_hs;
}
