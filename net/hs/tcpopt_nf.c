// SPDX-License-Identifier: GPL-2.0-only
/*
 * TCP option by netfilter hooks, for kernels whose TCP has no support for it.
 * The hooks put the option on packets that TCP sends, and look for it on
 * packets that TCP is about to receive. They are the hooks nearest to TCP, so all
 * others in netfilter see the option as if TCP had made it, and may remove it.
 *
 * The state, and where it is kept:
 *
 * - Whether a socket offers the option: tcp_sock.save_syn, by a value that no
 *   system call can give it. A listener's children inherit the value.
 * - Client, whether SYN and SYN-ACK had the option: struct smcr_sock, found
 *   through sk_user_data.
 * - Server, until the client's ACK: inet_request_sock.smc_ok, which the hook
 *   sets at the first SYN-ACK. TCP sends that SYN-ACK while it receives the
 *   SYN. Until then the table smcr_syns records whether the SYN had the option.
 *   Later SYN-ACKs follow smc_ok, even if a later copy of the SYN differs (T-11).
 *   A SYN-ACK that is sent while another CPU decides on smc_ok is dropped.
 *   The kernel's CONFIG_SMC code sets smc_ok only if a module has turned it on.
 * - Server, after the client's ACK: the copy of the SYN that TCP keeps because
 *   of save_syn and passes from request to child. The copy is freed if the SYN
 *   had the option, but the SYN-ACK is sent without it. With SYN cookies TCP
 *   keeps no copy, and the SYN-ACK belongs to no request (T-12).
 *
 * An application's TCP_SAVE_SYN works as without this module, with two exceptions.
 * The SYN is saved even if TCP_SAVE_SYN is 0. And a listener does not offer SMC-R
 * if TCP_SAVE_SYN is 2, or is set after listen().
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/jhash.h>
#include <linux/jump_label.h>
#include <linux/mutex.h>
#include <linux/netfilter.h>
#include <linux/netfilter_ipv4.h>
#include <linux/netfilter_ipv6.h>
#include <linux/net.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/tcp.h>
#include <net/checksum.h>
#include <net/inet_hashtables.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/netns/hash.h>
#include <net/request_sock.h>
#include <net/tcp.h>
#include "core/tcpopt_parse.h"
#include "base/race.h"
#include "conn/smcr_sock.h"
#include "hs/hs.h"
#include "hs/tcpopt.h"

/* save_syn: TCP distinguishes 0, 2 and all else; setsockopt() accepts 0 to 2 */
#define SMCR_SAVE_SYN	3

/* Off until the first offer: till then the hooks cost one no-op per packet */
static DEFINE_STATIC_KEY_FALSE(smcr_tcpopt_used);
static DEFINE_MUTEX(smcr_tcpopt_mutex);
static bool smcr_tcpopt_ready;

/**
 * struct smcr_syn - a SYN on its way to TCP; guarded by the lock of its set
 * @net: its namespace, only compared; NULL: unused entry
 * @seq: its sequence number, host byte order
 * @sport: its source port
 * @dport: its destination port
 * @opt: it has the option
 * @deciding: the decision for its first SYN-ACK has begun
 * @until: 0: no decision yet. Else jiffies: up to this time a late copy of the
 *	SYN, received on another CPU, is ignored
 */
struct smcr_syn {
	const struct net *net;
	u32 seq;
	__be16 sport;
	__be16 dport;
	bool opt;
	bool deciding;
	unsigned long until;
};

#define SMCR_SYN_BITS	8
#define SMCR_SYN_WAYS	8
#define SMCR_SYN_LATE	(HZ / 4)	/* TCP repeats a SYN after a second */

/**
 * struct smcr_syns - set of SYNs with the same hash
 * @lock: guards all members
 * @next: number of the entry that is replaced next, modulo SMCR_SYN_WAYS; @lock
 * @syn: entries; @lock
 *
 * An entry is used for microseconds. Without a SYN-ACK it stays until replaced.
 */
struct smcr_syns {
	spinlock_t lock;	/* all members */
	unsigned int next;
	struct smcr_syn syn[SMCR_SYN_WAYS];
};

static struct smcr_syns smcr_syns[1 << SMCR_SYN_BITS] = {
	[0 ... (1 << SMCR_SYN_BITS) - 1] = {
		.lock = __SPIN_LOCK_UNLOCKED(smcr_syns.lock),
	},
};

/* Copy of a packet's TCP header, which may be in fragments of the skb */
struct smcr_tcphdr {
	int off;		/* from the IP header */
	struct tcphdr th;
	u8 opt[SMCR_TCPOPT_MAX];
	unsigned int opt_len;
};

/* Offset of the TCP header, -1 if @skb is not a whole TCP packet */
static int tcp_off(const struct sk_buff *skb, u8 pf)
{
	__be16 frag_off;
	u8 nexthdr;
	int off;

	if (pf == NFPROTO_IPV4) {
		const struct iphdr *iph = ip_hdr(skb);

		if (iph->protocol != IPPROTO_TCP || ip_is_fragment(iph))
			return -1;
		return iph->ihl * 4;
	}

	nexthdr = ipv6_hdr(skb)->nexthdr;
	off = sizeof(struct ipv6hdr);
	if (nexthdr != IPPROTO_TCP) {
		off = ipv6_skip_exthdr(skb, off, &nexthdr, &frag_off);
		if (off < 0 || nexthdr != IPPROTO_TCP || frag_off)
			return -1;
	}
	return off;
}

/* Copy the TCP header of a SYN or SYN-ACK; false if @skb is neither */
static bool smcr_tcp_syn(const struct sk_buff *skb, u8 pf,
			 struct smcr_tcphdr *h)
{
	const struct tcphdr *th;

	h->off = tcp_off(skb, pf);
	if (h->off < 0)
		return false;
	th = skb_header_pointer(skb, h->off, sizeof(h->th), &h->th);
	if (!th || !th->syn || th->rst || th->doff < sizeof(*th) / 4)
		return false;
	if (th != &h->th)
		h->th = *th;
	h->opt_len = h->th.doff * 4 - sizeof(*th);
	return !skb_copy_bits(skb, h->off + sizeof(*th), h->opt, h->opt_len);
}

static bool tcpopt_offers(const struct sock *sk)
{
	return tcp_sk(sk)->save_syn == SMCR_SAVE_SYN;
}

/* sk_callback_lock keeps the AF_SMC socket of @sk from being freed */
static void tcpopt_note_syn(struct sock *sk, bool sent)
{
	struct smcr_sock *ssk;

	read_lock_bh(&sk->sk_callback_lock);
	ssk = smcr_tcp_owner(sk);
	if (ssk) {
		WRITE_ONCE(ssk->opt_sent, sent);
		WRITE_ONCE(ssk->opt_seen, false);
	}
	read_unlock_bh(&sk->sk_callback_lock);
}

static void tcpopt_note_synack(struct sock *sk, bool seen)
{
	struct smcr_sock *ssk;

	read_lock_bh(&sk->sk_callback_lock);
	ssk = smcr_tcp_owner(sk);
	if (ssk)
		WRITE_ONCE(ssk->opt_seen, seen);
	read_unlock_bh(&sk->sk_callback_lock);
}

static bool tcpopt_paused(struct sock *sk)
{
	const struct smcr_sock *ssk;
	bool paused;

	read_lock_bh(&sk->sk_callback_lock);
	ssk = smcr_tcp_owner(sk);
	paused = !ssk || READ_ONCE(ssk->opt_paused) ||
		 smcr_hs_owner_ops->listener_busy(ssk, 1);
	read_unlock_bh(&sk->sk_callback_lock);
	return paused;
}

/* False if the SYN has data (T-14), or its header is full (T-13) or signed */
static bool tcpopt_may_add(const struct sk_buff *skb,
			   const struct smcr_tcphdr *h)
{
	return skb->len == h->off + h->th.doff * 4 && !skb_is_nonlinear(skb) &&
	       smcr_tcpopt_fits(h->opt, h->opt_len);
}

/* Add the option to a SYN or SYN-ACK. Return: 0 or -ENOMEM. */
static int tcpopt_add(struct sk_buff *skb, u8 pf,
		      const struct smcr_tcphdr *h)
{
	int room = skb_tailroom(skb);
	unsigned int old_len;
	struct tcphdr *th;
	__be16 old, *word;
	__be32 opt[2];
	int rc;

	/* a SYN is a clone: TCP keeps the original for retransmission */
	if (skb_cloned(skb) || room < SMCR_TCPOPT_PADDED) {
		rc = pskb_expand_head(skb, 0, room < SMCR_TCPOPT_PADDED ?
				      SMCR_TCPOPT_PADDED - room : 0,
				      GFP_ATOMIC);
		if (rc)
			return rc;
	}

	old_len = skb->len - h->off;
	smcr_tcpopt_put((u8 *)opt);
	skb_put_data(skb, opt, sizeof(opt));

	/* With CHECKSUM_PARTIAL only the pseudo header's length is changed */
	th = (struct tcphdr *)(skb_network_header(skb) + h->off);
	word = (__be16 *)th + 6;
	old = *word;
	th->doff += SMCR_TCPOPT_PADDED / 4;
	inet_proto_csum_replace2(&th->check, skb, old, *word, false);
	inet_proto_csum_replace4(&th->check, skb, 0, opt[0], false);
	inet_proto_csum_replace4(&th->check, skb, 0, opt[1], false);
	inet_proto_csum_replace2(&th->check, skb, htons(old_len),
				 htons(old_len + SMCR_TCPOPT_PADDED), true);

	if (pf == NFPROTO_IPV4) {
		struct iphdr *iph = ip_hdr(skb);

		old = iph->tot_len;
		iph->tot_len = htons(skb->len);
		csum_replace2(&iph->check, old, iph->tot_len);
	} else {
		ipv6_hdr(skb)->payload_len =
			htons(skb->len - sizeof(struct ipv6hdr));
	}
	return 0;
}

static unsigned int tcpopt_out_syn(struct sk_buff *skb, u8 pf,
				   struct sock *sk)
{
	struct smcr_tcphdr h;
	bool add;

	if (!sk_is_tcp(sk) || !tcpopt_offers(sk) ||
	    !smcr_tcp_syn(skb, pf, &h) || h.th.ack)
		return NF_ACCEPT;
	add = tcpopt_may_add(skb, &h);
	/* No memory: drop this copy. TCP sends it again, and all must be equal (T-11) */
	if (add && tcpopt_add(skb, pf, &h))
		return NF_DROP;
	tcpopt_note_syn(sk, add);
	return NF_ACCEPT;
}

/* Lock a SYN's set. BH is disabled: nfqueue passes packets in process context. */
static struct smcr_syns *syns_lock(const struct smcr_syn *syn)
	__acquires(&set->lock)
{
	static u32 key __read_mostly;
	struct smcr_syns *set;
	u32 hash;

	net_get_random_once(&key, sizeof(key));
	hash = jhash_3words(syn->seq, (__force u32)syn->sport << 16 |
			    (__force u32)syn->dport, net_hash_mix(syn->net), key);
	set = &smcr_syns[hash >> (32 - SMCR_SYN_BITS)];
	spin_lock_bh(&set->lock);
	return set;
}

static struct smcr_syn *syns_find(struct smcr_syns *set,
				  const struct smcr_syn *syn)
{
	struct smcr_syn *old;

	for (old = set->syn; old < set->syn + SMCR_SYN_WAYS; old++)
		if (old->net == syn->net && old->seq == syn->seq &&
		    old->sport == syn->sport && old->dport == syn->dport)
			return old;
	return NULL;
}

static void syns_put(const struct smcr_syn *syn)
{
	struct smcr_syns *set = syns_lock(syn);
	struct smcr_syn *old = syns_find(set, syn);
	bool late = old && (old->until ? time_before(jiffies, old->until) :
			    old->deciding);
	int i;

	for (i = 0; !old && i < SMCR_SYN_WAYS; i++)
		if (!set->syn[i].net || set->syn[i].until)
			old = &set->syn[i];
	if (!old)
		old = &set->syn[set->next++ % SMCR_SYN_WAYS];
	if (!late)
		*old = *syn;
	spin_unlock_bh(&set->lock);
}

/* Lock the set of the SYN that @th answers. *@syn is that SYN, or NULL. */
static struct smcr_syns *synack_lock(const struct net *net,
				     const struct tcphdr *th,
				     struct smcr_syn **syn)
{
	const struct smcr_syn key = {
		net, ntohl(th->ack_seq) - 1, th->dest, th->source,
	};
	struct smcr_syns *set = syns_lock(&key);

	*syn = syns_find(set, &key);
	return set;
}

enum smcr_synack { SMCR_SYNACK_FIRST, SMCR_SYNACK_BESIDE, SMCR_SYNACK_LATER };

/* FIRST: the caller decides, by *@opt. BESIDE: another CPU decides. LATER: use smc_ok. */
static enum smcr_synack synack_begin(const struct net *net,
				     const struct tcphdr *th, bool *opt)
{
	enum smcr_synack which = SMCR_SYNACK_LATER;
	struct smcr_syn *syn;
	struct smcr_syns *set = synack_lock(net, th, &syn);

	if (syn && !syn->until) {
		which = syn->deciding ? SMCR_SYNACK_BESIDE : SMCR_SYNACK_FIRST;
		syn->deciding = true;
		*opt = syn->opt;
	}
	spin_unlock_bh(&set->lock);
	return which;
}

/* The decision is in smc_ok: later SYN-ACKs do not need the entry */
static void synack_end(const struct net *net, const struct tcphdr *th)
{
	struct smcr_syn *syn;
	struct smcr_syns *set = synack_lock(net, th, &syn);

	if (syn)
		syn->until = (jiffies + SMCR_SYN_LATE) | 1;
	spin_unlock_bh(&set->lock);
}

/*
 * At a request's first SYN-ACK: is the option agreed, for this SYN-ACK, later ones
 * and the child? Before the peer answers, no other thread uses the saved SYN.
 */
static bool tcpopt_decide(struct request_sock *req, bool opt, bool may_add)
{
	if (!opt || !req->saved_syn)
		return false;
	if (may_add && !tcpopt_paused(req->rsk_listener))
		return true;
	kfree(req->saved_syn);
	req->saved_syn = NULL;
	return false;
}

static unsigned int tcpopt_out_synack(struct sk_buff *skb, u8 pf,
				      const struct net *net,
				      struct request_sock *req)
{
	struct inet_request_sock *ireq = inet_rsk(req);
	struct smcr_tcphdr h;
	enum smcr_synack which;
	bool may_add, opt;

	if (!req->rsk_listener || !sk_is_tcp(req->rsk_listener) ||
	    !tcpopt_offers(req->rsk_listener) ||
	    tcp_rsk(req)->tfo_listener ||
	    !smcr_tcp_syn(skb, pf, &h) || !h.th.ack)
		return NF_ACCEPT;
	may_add = tcpopt_may_add(skb, &h);

	which = synack_begin(net, &h.th, &opt);
	if (which == SMCR_SYNACK_BESIDE)
		return NF_DROP;
	if (which == SMCR_SYNACK_FIRST) {
		smcr_race_atomic(net, "tcpopt-decide");
		ireq->smc_ok = tcpopt_decide(req, opt, may_add);
		synack_end(net, &h.th);
	}

	/* A request older than the listener's offer has no saved SYN */
	if (ireq->smc_ok && READ_ONCE(req->saved_syn) && may_add &&
	    tcpopt_add(skb, pf, &h))
		return NF_DROP;
	return NF_ACCEPT;
}

/*
 * A SYN-ACK from a socket instead of a request gets no option. The socket may
 * be a client in simultaneous open (T-17), which has no saved SYN. Or it is a
 * child that TCP Fast Open has made early (T-14), and that is not published
 * yet. Later copies of such a child's SYN-ACK come from the request.
 */
static unsigned int tcpopt_out_child(struct sk_buff *skb, u8 pf,
				     struct sock *sk)
{
	struct smcr_sock *ssk;
	struct smcr_tcphdr h;

	if (!sk_is_tcp(sk) || !tcpopt_offers(sk) ||
	    !smcr_tcp_syn(skb, pf, &h))
		return NF_ACCEPT;
	tcp_saved_syn_free(tcp_sk(sk));
	read_lock_bh(&sk->sk_callback_lock);
	ssk = smcr_tcp_owner(sk);
	if (ssk && READ_ONCE(ssk->is_client))
		WRITE_ONCE(ssk->opt_crossed, true);
	read_unlock_bh(&sk->sk_callback_lock);
	return NF_ACCEPT;
}

static unsigned int tcpopt_out(void *priv, struct sk_buff *skb,
			       const struct nf_hook_state *state)
{
	struct sock *sk = skb->sk;

	if (!static_branch_unlikely(&smcr_tcpopt_used) || !sk)
		return NF_ACCEPT;
	switch (READ_ONCE(sk->sk_state)) {
	case TCP_SYN_SENT:
		return tcpopt_out_syn(skb, state->pf, sk);
	case TCP_SYN_RECV:
		return tcpopt_out_child(skb, state->pf, sk);
	case TCP_NEW_SYN_RECV:
		return tcpopt_out_synack(skb, state->pf, state->net,
					 inet_reqsk(sk));
	default:
		return NF_ACCEPT;
	}
}

static struct sock *tcpopt_lookup(struct net *net,
				  const struct sk_buff *skb, u8 pf,
				  const struct tcphdr *th)
{
	if (pf == NFPROTO_IPV4) {
		const struct iphdr *iph = ip_hdr(skb);

		return smcr_compat_inet_lookup(net, iph->saddr, th->source,
					       iph->daddr, ntohs(th->dest),
					       inet_iif(skb), inet_sdif(skb));
	}
#if IS_ENABLED(CONFIG_IPV6)
	return smcr_compat_inet6_lookup(net, &ipv6_hdr(skb)->saddr, th->source,
					&ipv6_hdr(skb)->daddr, ntohs(th->dest),
					inet6_iif(skb), inet6_sdif(skb));
#else
	return NULL;
#endif
}

/* A SYN arrives; @sk: socket or request with its addresses and ports, or NULL */
static void tcpopt_in_syn(const struct net *net,
			  const struct smcr_tcphdr *h,
			  const struct sock *sk)
{
	const struct smcr_syn syn = {
		net, ntohl(h->th.seq), h->th.source, h->th.dest,
		smcr_tcpopt_find(h->opt, h->opt_len),
	};

	/* Only the first SYN of a request counts */
	if (!sk || READ_ONCE(sk->sk_state) != TCP_NEW_SYN_RECV)
		syns_put(&syn);
}

/*
 * A SYN-ACK arrives. If TCP rejects it as old or damaged, another SYN-ACK will
 * come, and opt_seen is set by that one. snd_una is compared, as snd_nxt is not
 * up to date while the SYN is still being sent.
 */
static void tcpopt_in_synack(const struct smcr_tcphdr *h, struct sock *sk)
{
	if (!sk || READ_ONCE(sk->sk_state) != TCP_SYN_SENT ||
	    !sk_is_tcp(sk) || !tcpopt_offers(sk) ||
	    ntohl(h->th.ack_seq) != READ_ONCE(tcp_sk(sk)->snd_una) + 1)
		return;
	tcpopt_note_synack(sk, smcr_tcpopt_find(h->opt, h->opt_len));
}

static unsigned int tcpopt_in(void *priv, struct sk_buff *skb,
			      const struct nf_hook_state *state)
{
	struct sock *sk = skb->sk;
	struct smcr_tcphdr h;

	if (!static_branch_unlikely(&smcr_tcpopt_used) ||
	    !smcr_tcp_syn(skb, state->pf, &h))
		return NF_ACCEPT;

	/*
	 * Early demultiplexing finds no listeners. If @sk is one, other code
	 * has assigned it to the packet. Look up a request, which may exist.
	 */
	if (sk && READ_ONCE(sk->sk_state) == TCP_LISTEN)
		sk = NULL;
	if (!sk)
		sk = tcpopt_lookup(state->net, skb, state->pf, &h.th);

	if (h.th.ack)
		tcpopt_in_synack(&h, sk);
	else
		tcpopt_in_syn(state->net, &h, sk);

	if (sk && sk != skb->sk)
		sock_gen_put(sk);
	return NF_ACCEPT;
}

#define SMCR_HOOK(fn, family, num, prio) { \
	.hook		= (fn), \
	.pf		= (family), \
	.hooknum	= (num), \
	.priority	= (prio), \
}

static const struct nf_hook_ops smcr_tcpopt_hooks[] = {
	SMCR_HOOK(tcpopt_out, NFPROTO_IPV4, NF_INET_LOCAL_OUT,
		  NF_IP_PRI_FIRST),
	SMCR_HOOK(tcpopt_in, NFPROTO_IPV4, NF_INET_LOCAL_IN,
		  NF_IP_PRI_LAST),
#if IS_ENABLED(CONFIG_IPV6)
	SMCR_HOOK(tcpopt_out, NFPROTO_IPV6, NF_INET_LOCAL_OUT,
		  NF_IP6_PRI_FIRST),
	SMCR_HOOK(tcpopt_in, NFPROTO_IPV6, NF_INET_LOCAL_IN,
		  NF_IP6_PRI_LAST),
#endif
};

/**
 * smcr_tcpopt_init() - nothing to do before the first offer
 *
 * Return: 0.
 */
int smcr_tcpopt_init(void)
{
	return 0;
}

/* There is nothing to undo */
void smcr_tcpopt_exit(void)
{
}

int smcr_tcpopt_net_init(struct net *net)
{
	return nf_register_net_hooks(net, smcr_tcpopt_hooks,
				     ARRAY_SIZE(smcr_tcpopt_hooks));
}

int smcr_tcpopt_connect(struct socket *tcp, SMCR_SOCKADDR *addr, int alen)
{
	return READ_ONCE(tcp->ops)->connect(tcp, addr, alen, O_NONBLOCK);
}

void smcr_tcpopt_connected(struct sock *tcp)
{
}

void smcr_tcpopt_net_exit(struct net *net)
{
	nf_unregister_net_hooks(net, smcr_tcpopt_hooks,
				ARRAY_SIZE(smcr_tcpopt_hooks));
}

/* Called before each offer; at the first one the hooks begin to look at packets */
static void tcpopt_start(void)
{
	/* Pairs with the release below: no offer before the hooks look at packets */
	if (smp_load_acquire(&smcr_tcpopt_ready))
		return;
	mutex_lock(&smcr_tcpopt_mutex);
	if (!smcr_tcpopt_ready) {
		static_branch_enable(&smcr_tcpopt_used);
		/*
		 * A SYN that passed LOCAL_IN before the key was enabled must
		 * not find a listener that offers: LOCAL_OUT would find no
		 * entry for it in smcr_syns.
		 */
		synchronize_net();
		/* Pairs with the acquire above */
		smp_store_release(&smcr_tcpopt_ready, true);
	}
	mutex_unlock(&smcr_tcpopt_mutex);
}

static void tcpopt_set(struct sock *tcp, u8 save_syn, bool paused)
{
	struct smcr_sock *ssk;

	sock_owned_by_me(tcp);

	read_lock_bh(&tcp->sk_callback_lock);
	ssk = smcr_tcp_owner(tcp);
	if (ssk)
		WRITE_ONCE(ssk->opt_paused, paused);
	read_unlock_bh(&tcp->sk_callback_lock);
	tcp_sk(tcp)->save_syn = save_syn;
}

void smcr_tcpopt_offer(struct sock *tcp, bool on)
{
	u8 save_syn;

	if (on)
		tcpopt_start();

	lock_sock(tcp);
	save_syn = tcp_sk(tcp)->save_syn;
	if (tcp->sk_state == TCP_LISTEN) {
		/*
		 * With SMCR_SAVE_SYN the hooks have checked this listener's
		 * requests; with 0 the requests have no saved SYN. With the
		 * application's TCP_SAVE_SYN they may have a saved SYN that the
		 * hooks have not checked: the offer does not change.
		 */
		if (save_syn == SMCR_SAVE_SYN || (on && !save_syn))
			tcpopt_set(tcp, SMCR_SAVE_SYN, !on);
	} else if (on && save_syn != 2) {
		tcpopt_set(tcp, SMCR_SAVE_SYN, false);
	} else if (!on && save_syn == SMCR_SAVE_SYN) {
		tcpopt_set(tcp, 0, false);
	}
	release_sock(tcp);
}

void smcr_tcpopt_listen(struct sock *tcp)
{
	tcpopt_start();
	lock_sock(tcp);
	if (tcp_sk(tcp)->save_syn != 2)
		tcpopt_set(tcp, SMCR_SAVE_SYN, true);
	release_sock(tcp);
}

bool smcr_tcpopt_agreed(struct sock *tcp)
{
	const struct saved_syn *syn = tcp_sk(tcp)->saved_syn;
	const struct smcr_sock *ssk;
	const struct tcphdr *th;
	bool agreed;

	if (!tcpopt_offers(tcp))
		return false;

	if (syn) {
		if (syn->tcp_hdrlen < sizeof(*th))
			return false;
		th = (const void *)(syn->data + syn->mac_hdrlen +
				    syn->network_hdrlen);
		return smcr_tcpopt_find((const u8 *)(th + 1),
					syn->tcp_hdrlen - sizeof(*th));
	}

	/* a client's inner socket has an owner, a child's none before smcr_tcp_hook() */
	read_lock_bh(&tcp->sk_callback_lock);
	ssk = smcr_tcp_owner(tcp);
	agreed = ssk && READ_ONCE(ssk->opt_sent) && READ_ONCE(ssk->opt_seen) &&
		 !READ_ONCE(ssk->opt_crossed);
	read_unlock_bh(&tcp->sk_callback_lock);
	return agreed;
}

const char *smcr_tcpopt_backend(void)
{
	return "netfilter";
}
