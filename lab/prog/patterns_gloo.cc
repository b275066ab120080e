// SPDX-License-Identifier: GPL-2.0
/*
 * The workloads of patterns.h over gloo, unmodified. Its tcp transport has stream
 * sockets, which "smcctl run" turns into AF_SMC. The processes find each other by
 * files of a shared folder (gloo's FileStore); then each of them has a connection
 * with every other one, the workers too. The server is rank 0.
 *
 * Messages and their data are sent with gloo's send and recv. Two patterns exist a
 * second time, as collectives:
 *
 *	ps-gather	ps: broadcast of the parameters, gather of the gradients
 *	allreduce	rendezvous: allreduce, to which the server adds nothing
 */
#include <chrono>
#include <map>
#include <memory>
#include <string>

#include <gloo/allreduce.h>
#include <gloo/barrier.h>
#include <gloo/broadcast.h>
#include <gloo/gather.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>
#include <gloo/transport/unbound_buffer.h>
#include <signal.h>
#include <sys/stat.h>

struct link;
static void ps_gather(struct link *l);
static void allreduce(struct link *l);

#define CARRIER_PATTERNS \
	{ "ps-gather", [] { ps_gather(nullptr); }, ps_gather, ps_local, true }, \
	{ "allreduce", [] { allreduce(nullptr); }, allreduce, rendezvous_local, true },

#include "patterns.h"
#include "patterns_message.h"

using Buffer = std::unique_ptr<gloo::transport::UnboundBuffer>;

static constexpr std::chrono::seconds patience(60);	/* for every single wait */
enum { HEADS = 32 };			/* receives for messages; half as many are more than can be in flight */
enum { HEAD, BODY };			/* gloo's slots: each is in order */

/* Between the server and a worker */
struct link {
	int rank;			/* of the peer */
	struct message said, heard[HEADS];
	Buffer out, in[HEADS];		/* buffers of these messages */
	unsigned int next;		/* number of the next message */
	std::map<size_t, Buffer> sent;	/* buffers of data by offset; a send may be pending */
};

static std::shared_ptr<gloo::transport::Device> device;
static std::shared_ptr<gloo::rendezvous::Context> context;
static std::string folder;
static int accepted, closed;

static void finish_send(Buffer &b)
{
	if (!b->waitSend(patience))
		errx(1, "a send was given up");
}

static void finish_recv(Buffer &b)
{
	if (!b->waitRecv(patience))
		errx(1, "a receive was given up");
}

static void say(struct link *l, uint32_t op, size_t off, size_t len, uint32_t flag)
{
	l->said = { op, flag, off, len };
	l->out->send(l->rank, HEAD);
	finish_send(l->out);
	if (has_data(op)) {
		Buffer &b = l->sent[off];

		/* Does not wait: memory is only written again after the last send from it has arrived. */
		if (b)
			finish_send(b);
		b = context->createUnboundBuffer(at(off), len);
		b->send(l->rank, BODY);
	}
}

/* Not for each message: gloo notifies the peer of a receive, and the peer may have ended after its last message */
static void await_messages(struct link *l, unsigned int first, unsigned int n)
{
	for (unsigned int i = first; i < first + n; i++)
		l->in[i % HEADS]->recv(l->rank, HEAD);
}

static struct message hear(struct link *l)
{
	unsigned int i = l->next++ % HEADS;
	struct message m;

	finish_recv(l->in[i]);
	m = l->heard[i];
	if (l->next % (HEADS / 2) == 0)
		await_messages(l, l->next - HEADS / 2, HEADS / 2);
	within_memory(&m);
	if (has_data(m.op)) {
		Buffer b = context->createUnboundBuffer(at(m.off), m.len);

		b->recv(l->rank, BODY);
		finish_recv(b);
	}
	return m;
}

static struct link *new_link(int rank)
{
	struct link *l = new struct link();

	l->rank = rank;
	l->out = context->createUnboundBuffer(&l->said, sizeof(l->said));
	for (int i = 0; i < HEADS; i++)
		l->in[i] = context->createUnboundBuffer(&l->heard[i], sizeof(l->heard[i]));
	await_messages(l, 0, HEADS);
	return l;
}

static void join(int rank, char **args)
{
	struct stat st;

	folder = args[1];
	if (stat(args[1], &st) || !S_ISDIR(st.st_mode))
		errx(2, "%s is not a folder", args[1]);
	device = gloo::transport::tcp::CreateDevice(args[0]);
	context = std::make_shared<gloo::rendezvous::Context>(rank, (int)shape.workers + 1);
	context->setTimeout(patience);
}

static void connect_all()
{
	gloo::rendezvous::FileStore store(folder);

	context->connectFullMesh(store, device);
}

static void carrier_listen(char **args, void *, size_t)
{
	join(0, args);
}

static struct link *carrier_accept()
{
	if (!accepted++)
		connect_all();
	return new_link(accepted);
}

static struct link *carrier_connect(char **args, void *, size_t)
{
	join((int)shape.worker + 1, args);
	connect_all();
	return new_link(0);
}

static void carrier_close(struct link *l)
{
	for (auto &s : l->sent)
		finish_send(s.second);
	delete l;
	if (!closed++) {
		gloo::BarrierOptions o(context);

		/* A late message of gloo to a process that has ended would abort the connection. */
		gloo::barrier(o);
	}
}

static const char *carrier_name()
{
	return "gloo";
}

/* --- collectives; the server has no link --- */
static void broadcast_parameters()
{
	gloo::BroadcastOptions o(context);

	o.setRoot(0);
	o.setOutput(floats(0), shape.bytes / sizeof(float));
	gloo::broadcast(o);
}

/* The gradient of rank r is copied to piece 1 + workers + r of the server; that of rank 0 is not used */
static void gather_gradients(size_t mine)
{
	size_t n = shape.bytes / sizeof(float);
	gloo::GatherOptions o(context);

	o.setRoot(0);
	o.setInput(floats(mine), n);
	if (!context->rank)
		o.setOutput(floats(piece(1 + shape.workers)), n * (1 + shape.workers));
	gloo::gather(o);
}

static void ps_gather(struct link *l)
{
	size_t mine = l ? piece(1 + shape.worker) : 0;

	for (unsigned int step = 0; step < shape.rounds; step++) {
		double t = seconds();

		broadcast_parameters();
		if (l)
			gradient(floats(mine), floats(0), shape.worker, step);
		gather_gradients(mine);
		for (unsigned int w = 0; !l && w < shape.workers; w++)
			apply(floats(0), floats(piece(2 + shape.workers + w)));
		took[step] = seconds() - t;
	}
	broadcast_parameters();
	digest_add(at(0), shape.bytes);
}

static void allreduce(struct link *l)
{
	/* the server's piece 1 is always zero */
	uint32_t *mine = integers(piece(1 + (l ? shape.worker : 0)));
	void (*sum)(void *, const void *, const void *, size_t) = gloo::sum<uint32_t>;
	size_t n = shape.bytes / sizeof(*mine);

	for (unsigned int round = 0; round < shape.rounds; round++) {
		gloo::AllreduceOptions o(context);
		double t;

		if (l)
			words(mine, shape.worker, round);
		t = seconds();
		o.setInput(mine, n);
		o.setOutput(integers(0), n);
		o.setReduceFunction(sum);
		gloo::allreduce(o);
		took[round] = seconds() - t;
		digest_add(at(0), shape.bytes);
	}
}

int main(int argc, char **argv)
{
	static const struct syntax syntax = {
		"ADDRESS FOLDER", "ADDRESS FOLDER", "", nullptr,
		"ADDRESS  one's own\n"
		"                               FOLDER  empty, seen by all of them"
	};

	signal(SIGPIPE, SIG_IGN);
	try {
		return patterns_main(argc, argv, &syntax);
	} catch (const std::exception &e) {
		errx(1, "gloo: %s", e.what());
	}
}
