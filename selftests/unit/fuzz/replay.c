// SPDX-License-Identifier: GPL-2.0-only
/*
 * main() of a fuzz target without libFuzzer: replays files, and prints the
 * result as KTAP. Without arguments, all files of the target's corpus.
 */
#include "fuzz.h"

#include <dirent.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>

static void replay(const char *path)
{
	u8 *buf, *copy;
	size_t len;
	FILE *f;

	f = fopen(path, "rb");
	buf = malloc(1 << 20);
	if (!f || !buf) {
		perror(path);
		exit(1);
	}
	len = fread(buf, 1, 1 << 20, f);
	fclose(f);

	/* exactly sized, so that the sanitizer detects an over-read */
	copy = malloc(len ? len : 1);
	if (!copy)
		exit(1);
	memcpy(copy, buf, len);
	free(buf);
	LLVMFuzzerTestOneInput(copy, len);
	free(copy);
}

int main(int argc, char **argv)
{
	const char *name = basename(argv[0]) + strlen("fuzz_");
	struct dirent *ent;
	char path[1024];
	int i, n = 0;
	DIR *dir;

	for (i = 1; i < argc; i++)
		replay(argv[i]);
	if (argc > 1)
		return 0;

	printf("KTAP version 1\n1..1\n");
	fflush(stdout);
	snprintf(path, sizeof(path), "fuzz/corpus/%s", name);
	dir = opendir(path);
	while (dir && (ent = readdir(dir))) {
		if (ent->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "fuzz/corpus/%s/%s", name,
			 ent->d_name);
		replay(path);
		n++;
	}
	if (dir)
		closedir(dir);
	printf("# %d inputs\n%sok 1 fuzz_%s__corpus\n", n, n ? "" : "not ",
	       name);
	return !n;
}
