// SPDX-License-Identifier: GPL-2.0-only
/*
 * A socket option of TCP sockets for the SMC-R option in SYN and SYN-ACK (RFC
 * 7609 A.1): setting it sends the option, reading it returns whether both sides
 * have sent it. The puppet peer needs no AF_SMC socket that way. Test helper,
 * never part of a product.
 *
 *	int on = 1;
 *	setsockopt(fd, IPPROTO_IP, 0x5e00, &on, sizeof(on));	before connect, listen
 *	getsockopt(fd, IPPROTO_IP, 0x5e00, &both, &len);	when established
 *
 * IPPROTO_IPV6 for AF_INET6 sockets. Kernels with CONFIG_SMC only; while this
 * module is loaded the kernel parses and writes the option.
 */
#include <linux/module.h>
#include <linux/netfilter.h>
#include <linux/tcp.h>
#include <net/tcp.h>

#if !IS_ENABLED(CONFIG_SMC)
#error "this kernel has no SYN option support (CONFIG_SMC)"
#endif

enum { SYNOPT = 0x5e00 };

static bool synopt_is_tcp(const struct sock *sk)
{
	return sk->sk_protocol == IPPROTO_TCP && sk->sk_type == SOCK_STREAM;
}

static int synopt_set(struct sock *sk, int opt, sockptr_t arg,
		      unsigned int len)
{
	int on;

	if (!synopt_is_tcp(sk) || len < sizeof(on))
		return -EINVAL;
	if (copy_from_sockptr(&on, arg, sizeof(on)))
		return -EFAULT;
	lock_sock(sk);
	tcp_sk(sk)->syn_smc = on != 0;
	release_sock(sk);
	return 0;
}

static int synopt_get(struct sock *sk, int opt, void __user *user, int *len)
{
	int both;

	if (!synopt_is_tcp(sk) || *len < (int)sizeof(both))
		return -EINVAL;
	/* TCP clears the bit if the other side did not send the option */
	both = tcp_sk(sk)->syn_smc;
	if (copy_to_user(user, &both, sizeof(both)))
		return -EFAULT;
	*len = sizeof(both);
	return 0;
}

static struct nf_sockopt_ops synopt_ops[] = {
	{
		.pf		= PF_INET,
		.set_optmin	= SYNOPT,
		.set_optmax	= SYNOPT + 1,
		.set		= synopt_set,
		.get_optmin	= SYNOPT,
		.get_optmax	= SYNOPT + 1,
		.get		= synopt_get,
		.owner		= THIS_MODULE,
	},
	{
		.pf		= PF_INET6,
		.set_optmin	= SYNOPT,
		.set_optmax	= SYNOPT + 1,
		.set		= synopt_set,
		.get_optmin	= SYNOPT,
		.get_optmax	= SYNOPT + 1,
		.get		= synopt_get,
		.owner		= THIS_MODULE,
	},
};

static int __init synopt_init(void)
{
	int rc;

	rc = nf_register_sockopt(&synopt_ops[0]);
	if (rc)
		return rc;
	rc = nf_register_sockopt(&synopt_ops[1]);
	if (rc) {
		nf_unregister_sockopt(&synopt_ops[0]);
		return rc;
	}
	static_branch_inc(&tcp_have_smc);
	return 0;
}
module_init(synopt_init);

static void __exit synopt_exit(void)
{
	static_branch_dec(&tcp_have_smc);
	nf_unregister_sockopt(&synopt_ops[1]);
	nf_unregister_sockopt(&synopt_ops[0]);
}
module_exit(synopt_exit);

MODULE_DESCRIPTION("SMC-R SYN option for the test suite's puppet peer");
MODULE_LICENSE("GPL");
