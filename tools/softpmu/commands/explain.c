/* SPDX-License-Identifier: MIT */
/* explain.c: `softpmu explain`: the options, and the core on which writes are tried. */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "hosts/user/launch.h"
#include "tools/softpmu/base/output.h"
#include "tools/softpmu/base/tool.h"
#include "tools/softpmu/commands/commands.h"
#include "tools/softpmu/machine/machine_draw.h"
#include "tools/softpmu/machine/machine_options.h"
#include "tools/softpmu/registers/explain.h"

static void help(void)
{
	puts("Usage: softpmu explain [-M MODEL] [--ascii] [REGISTER[=VALUE] ...]\n"
	     "       softpmu explain [-M MODEL] [--ascii] [-t THREADS] cpuid [LEAF]\n"
	     "       softpmu explain [-M MODEL] [--ascii] machine [NAME|all]\n\n"
	     "Draws a register value as the manual draws it, and says what each field means.\n"
	     "A REGISTER is a name (IA32_PERFEVTSEL0, PERFEVTSEL0) or an MSR number (0x186).\n"
	     "Without VALUE the value after reset is drawn.  Without REGISTER the registers of\n"
	     "the model are listed.  'cpuid' draws what the unit reports in CPUID.\n"
	     "'machine' draws the caches, TLBs, predictors and prefetchers of a machine, for\n"
	     "'softpmu stat --machine'; 'machine all' lists the machines.\n\n"
	     "  -M, --model MODEL      the processor (default " DEFAULT_MODEL ")\n"
	     "  -t, --threads 1|2      logical processors of the core (default 2)\n"
	     "      --ascii            draw with - | + in any locale");
}

/* The core has no memory, no interrupts and no clock. */
static bool no_read(void *opaque, unsigned lp, uint64_t linear, void *to, size_t bytes)
{
	(void)opaque, (void)lp, (void)linear, (void)to, (void)bytes;
	return false;
}

static bool no_write(void *opaque, unsigned lp, uint64_t linear, const void *from, size_t bytes)
{
	(void)opaque, (void)lp, (void)linear, (void)from, (void)bytes;
	return false;
}

static void no_pmi(void *opaque, unsigned lp, struct spmu_pmi pmi)
{
	(void)opaque, (void)lp, (void)pmi;
}

static uint64_t no_tsc(void *opaque, unsigned lp)
{
	(void)opaque, (void)lp;
	return 0;
}

static void no_registers(void *opaque, unsigned lp, struct spmu_registers *out)
{
	(void)opaque, (void)lp;
	memset(out, 0, sizeof(*out));
}

static enum spmu_status make_core(struct explain *explain, void **memory)
{
	static struct spmu_meters meters[SPMU_THREADS_MAX];
	struct spmu_core_config config = {.size = sizeof(struct spmu_core_config),
					  .model = explain->model,
					  .threads = explain->threads};
	struct spmu_host host = {.size = sizeof(struct spmu_host),
				 .read = no_read,
				 .write = no_write,
				 .pmi = no_pmi,
				 .tsc = no_tsc,
				 .registers = no_registers,
				 .supply = launch_supply};
	size_t bytes = (spmu_core_bytes() + 63) / 64 * 64;
	unsigned lp;

	for (lp = 0; lp < explain->threads; lp++)
		config.meters[lp] = &meters[lp];
	*memory = aligned_alloc(64, bytes);
	if (!*memory)
		return SPMU_E_SPACE;
	return spmu_core_create(*memory, bytes, &config, &host, &explain->core);
}

static int explain_machine(const struct explain *explain, const char *name)
{
	const struct spmu_machine *machine;

	if (name && !strcmp(name, "all")) {
		machine_draw_list();
		return 0;
	}
	machine = name ? machine_options_find("explain", name)
		       : spmu_machine_of_model(explain->info.name);
	if (!machine)
		return 1;
	machine_draw(machine, explain->style.ascii);
	return 0;
}

static int explain_all(const struct explain *explain, int argc, char **argv)
{
	int status = 0, i;

	if (argc == 0)
		return explain_list(explain);
	if (!strcasecmp(argv[0], "cpuid")) {
		if (argc > 2)
			return tool_usage_error("explain", "cpuid takes one leaf at most");
		return explain_cpuid(explain, argc == 2 ? argv[1] : NULL);
	}
	if (!strcasecmp(argv[0], "machine")) {
		if (argc > 2)
			return tool_usage_error("explain", "machine takes one name at most");
		return explain_machine(explain, argc == 2 ? argv[1] : NULL);
	}
	for (i = 0; i < argc && status == 0; i++) {
		if (i > 0)
			putchar('\n');
		status = explain_register(explain, argv[i]);
	}
	return status;
}

int cmd_explain(int argc, char **argv)
{
	enum { OPTION_ASCII = 256 };
	static const struct option options[] = {{"model", required_argument, NULL, 'M'},
						{"threads", required_argument, NULL, 't'},
						{"ascii", no_argument, NULL, OPTION_ASCII},
						{"help", no_argument, NULL, 'h'},
						{0}};
	struct explain explain = {.threads = 2};
	const char *model = NULL;
	bool ascii = false;
	void *memory = NULL;
	enum spmu_status made;
	uint64_t threads;
	int option, status;

	while ((option = getopt_long(argc, argv, ":M:t:h", options, NULL)) != -1) {
		switch (option) {
		case 'M':
			model = optarg;
			break;
		case 't':
			if (!explain_number(optarg, &threads) || threads < 1 || threads > 2)
				return tool_usage_error("explain", "--threads is 1 or 2, not '%s'",
							optarg);
			explain.threads = (unsigned)threads;
			break;
		case OPTION_ASCII:
			ascii = true;
			break;
		case 'h':
			help();
			return output_finish("explain", 0);
		default:
			return tool_bad_option("explain", option, argv);
		}
	}
	explain.model = tool_model(model);
	if (!explain.model)
		return 1;
	explain.info = spmu_model_describe(explain.model);
	explain.style = draw_style(ascii);
	made = make_core(&explain, &memory);
	if (made != SPMU_OK) {
		free(memory);
		return tool_error("cannot make a core of %s: %s", explain.info.name,
				  spmu_status_text(made));
	}
	status = explain_all(&explain, argc - optind, argv + optind);
	free(memory);
	return output_finish("explain", status);
}
