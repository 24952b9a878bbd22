/*
 * The tests' way into a guest. Each connection brings a shell script: its length in bytes as a line, the script, and then the
 * script's standard input. The answer is the script's process id in a line, its output, and at the end a NUL and its status.
 * A script under socat starts five programs for each command, and an emulated processor takes longer for them than for most of
 * the commands that a test sends.
 *
 *	agent ADDRESS PORT
 */

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* Of a script, in bytes. */
#define LONGEST (1 << 20)

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

/* Not one byte more than asked for: the next ones are the script's. */
static int read_all(int from, char *to, size_t count)
{
	while (count > 0) {
		ssize_t got = read(from, to, count);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return 0;
		to += got;
		count -= got;
	}
	return 1;
}

/* NULL if the connection ends early or is not one of the tests'. */
static char *receive_script(int connection)
{
	size_t length = 0;
	char digit, *script;

	for (;;) {
		if (!read_all(connection, &digit, 1))
			return NULL;
		if (digit == '\n')
			break;
		if (digit < '0' || digit > '9' || length > LONGEST)
			return NULL;
		length = 10 * length + (digit - '0');
	}
	if (length > LONGEST)
		return NULL;
	script = calloc(1, length + 1);
	return script && read_all(connection, script, length) ? script : NULL;
}

static void run(int connection, const char *script)
{
	for (int to = 0; to <= 2; to++)
		if (dup2(connection, to) < 0)
			_exit(126);
	close(connection);
	dprintf(1, "%d\n", getpid());
	execl("/bin/sh", "sh", "-c", script, (char *)NULL);
	_exit(127);
}

static void serve(int connection)
{
	char *script = receive_script(connection);
	int status;
	pid_t child;

	if (!script)
		_exit(1);
	child = fork();
	if (child == 0)
		run(connection, script);
	if (child < 0 || waitpid(child, &status, 0) < 0)
		_exit(1);
	dprintf(connection, "%c%d", 0, WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
	/* What the script has left running may have the connection, too. */
	shutdown(connection, SHUT_WR);
	_exit(0);
}

static int listen_at(const char *address, const char *port)
{
	struct sockaddr_in place = { .sin_family = AF_INET, .sin_port = htons(atoi(port)) };
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), yes = 1;

	if (listener < 0)
		fail("socket");
	if (setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) < 0)
		fail("setsockopt");
	if (inet_pton(AF_INET, address, &place.sin_addr) != 1) {
		fprintf(stderr, "agent: not an address: %s\n", address);
		exit(2);
	}
	if (bind(listener, (struct sockaddr *)&place, sizeof(place)) < 0)
		fail("bind");
	if (listen(listener, 64) < 0)
		fail("listen");
	return listener;
}

int main(int count, char **words)
{
	int listener;

	if (count != 3) {
		fputs("Usage: agent ADDRESS PORT\n", stderr);
		return 2;
	}
	listener = listen_at(words[1], words[2]);
	for (;;) {
		int connection = accept(listener, NULL, NULL);
		pid_t server;

		if (connection < 0) {
			if (errno == EINTR || errno == ECONNABORTED)
				continue;
			fail("accept");
		}
		server = fork();
		if (server == 0) {
			close(listener);
			serve(connection);
		}
		close(connection);
		/* Those that have ended. */
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
	}
}
