/* SPDX-License-Identifier: GPL-2.0-only */
/* Declarations shared by the files of sockapi. See sockapi.c. */
#ifndef _SOCKAPI_H
#define _SOCKAPI_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include "sockwords.h"

#define N_SLOT		128
#define N_ASYNC		10
#define MAXARG		16
#define BUF		(4 << 20)

struct slot {
	int fd;			/* -1: none */
	uint64_t tx, rx;	/* position in the stream */
};

struct op_out {
	char text[2048];
	size_t len;
	bool made;		/* this side's connect() succeeded */
};

struct async {
	pthread_t thread;
	bool used, done;
	char line[512];
	struct op_out out;
};

/* One operation; a[0] is its name */
struct call {
	int n;
	char *a[MAXARG];
	struct op_out *o;
};

struct op {
	const char *name;
	void (*fn)(struct call *c);
};

/* By family; they end with an empty row */
extern const struct op ops_conn[], ops_data[], ops_event[], ops_option[], ops_flow[];

extern struct slot slots[N_SLOT];
extern struct async asyncs[N_ASYNC];
extern int family;			/* of this side's sockets: 4 or 6 */
extern bool mapped;			/* client: v6 socket, v4 peer */
extern char peer_host[64];
extern int base_port;
extern pid_t child;			/* of the fork ops */
extern volatile sig_atomic_t sigs[65];
extern __thread unsigned char *iobuf;

__attribute__((format(printf, 2, 3)))
void say(struct op_out *o, const char *fmt, ...);
void say_result(struct op_out *o, long rc, int err);
void say_flags(struct op_out *o, const struct name *n, long v);
void say_address(struct op_out *o, const struct sockaddr_storage *ss, socklen_t len);
void say_data(struct op_out *o, struct slot *s, const unsigned char *p, long rc, bool consume);

unsigned char *buffer(void);
struct slot *slot(const char *name);
int address(struct sockaddr_storage *ss, const char *host, int port);
int open_socket(struct slot *s);
const char *arg(const struct call *c, int i);
long num(const struct call *c, int i, long dflt);
void run_op(struct call *c);

#endif /* _SOCKAPI_H */
