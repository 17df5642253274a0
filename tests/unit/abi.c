/* SPDX-License-Identifier: MIT */
/*
 * abi.c: structures with a size from callers of older and later versions ("Structures" in base.h).
 *
 * An older caller's structure is shorter, and the library must not read the bytes after it. A later
 * caller's structure is longer. The library accepts it if the bytes that it does not know are 0.
 */
#include <string.h>

#include "driver_host.h"

#define LATER_BYTES 24 /* bytes that a later version appends */

/*
 * Structures that a case passes, each with its size. A structure is whole unless the case changes
 * it.
 */
static struct host host;
static union {
	struct spmu_core_config config;
	struct spmu_host host;
	struct spmu_port port;
	struct spmu_driver_memory memory;
	struct spmu_request request;
	struct spmu_model_info info;
	uint8_t bytes[512];
	size_t size;
} given;

static struct spmu_core_config config_of_host(void)
{
	return (struct spmu_core_config){.size = sizeof(struct spmu_core_config),
					 .model = host.model,
					 .threads = 1,
					 .meters = {&host.meters}};
}

static _Alignas(64) uint8_t core_memory[1 << 17];

static enum spmu_status pass_config(void)
{
	const struct spmu_host callbacks = {.size = sizeof(callbacks)};
	struct spmu_core *core;

	return spmu_core_create(core_memory, sizeof(core_memory), &given.config, &callbacks, &core);
}

static enum spmu_status pass_host(void)
{
	const struct spmu_core_config config = config_of_host();
	struct spmu_core *core;

	return spmu_core_create(core_memory, sizeof(core_memory), &config, &given.host, &core);
}

static enum spmu_status pass_port(void)
{
	struct spmu_driver driver;

	return spmu_driver_detect(&driver, sizeof(driver), &given.port, host.model);
}

static enum spmu_status pass_memory(void)
{
	return spmu_driver_setup_ds(&host.driver, &given.memory);
}

static enum spmu_status pass_request(void)
{
	unsigned slot;

	return spmu_driver_add(&host.driver, &given.request, &slot);
}

static enum spmu_status pass_starter(void)
{
	struct spmu_request whole = given.request;
	unsigned slots[2];

	whole.size = sizeof(whole);
	whole.period = 0;
	return spmu_driver_add_cascade(&host.driver, &given.request, &whole, slots);
}

static enum spmu_status pass_info(void)
{
	return spmu_model_get_info(host.model, &given.info);
}

static void fill_memory(void)
{
	given.memory = (struct spmu_driver_memory){.size = sizeof(given.memory),
						   .memory = host.area,
						   .linear = HOST_AREA,
						   .bytes = HOST_AREA_BYTES};
}

/*
 * Checks the sizes of the structure at `given`, which has `known` bytes. A longer structure is
 * accepted if the additional bytes are 0, whatever follows it, and gives the same result as the
 * whole one. Other sizes are refused.
 */
static void sizes(enum spmu_status (*pass)(void), size_t known, bool input)
{
	enum spmu_status good;

	memset(given.bytes + known, 0, sizeof(given.bytes) - known);
	good = pass();
	CHECK(good != SPMU_E_ARGUMENT);
	given.size = known + LATER_BYTES;
	given.bytes[known + LATER_BYTES] = 1;
	CHECK_EQ(pass(), good);
	given.bytes[known + LATER_BYTES - 1] = 1;
	CHECK_EQ(pass(), input ? SPMU_E_ARGUMENT : good);
	given.size = known + LATER_BYTES;
	given.bytes[known + LATER_BYTES - 1] = 0;
	CHECK_EQ(pass(), good);
	given.size = 0;
	CHECK_EQ(pass(), SPMU_E_ARGUMENT);
	given.size = sizeof(size_t) - 1;
	CHECK_EQ(pass(), SPMU_E_ARGUMENT);
	given.size = SIZE_MAX;
	CHECK_EQ(pass(), SPMU_E_ARGUMENT);
}

static void takes_sizes(void)
{
	host_make(&host, 1);
	given.config = config_of_host();
	sizes(pass_config, sizeof(given.config), true);
	given.host = (struct spmu_host){.size = sizeof(given.host)};
	sizes(pass_host, sizeof(given.host), true);
	given.port = host_port(&host);
	sizes(pass_port, sizeof(given.port), true);
	CHECK_EQ(host_detect(&host), SPMU_OK);
	fill_memory();
	sizes(pass_memory, sizeof(given.memory), true);
	given.request = host_watch(&host, 0x00c0, USR, 0, false);
	sizes(pass_request, sizeof(given.request), true);
	given.info.size = sizeof(given.info);
	sizes(pass_info, sizeof(given.info), false);
	host_free(&host);
}

static void takes_sizes_of_cascades(void)
{
	host_make_model(&host, spmu_model_find("netburst"), 1);
	CHECK_EQ(host_detect(&host), SPMU_OK);
	given.request = (struct spmu_request){.size = sizeof(given.request),
					      .select = USR,
					      .code = 0x80002104,
					      .fixed = -1,
					      .period = 100};
	/* No counter is named, so the driver reads the request and then refuses it. */
	sizes(pass_starter, sizeof(given.request), true);
	host_free(&host);
}

/* Checks that a field that an older caller does not have counts as 0. */
static void misses_fields(void)
{
	host_make(&host, 1);
	given.config = config_of_host();
	given.config.errata = UINT64_MAX; /* after the end of the caller's structure */
	CHECK_EQ(pass_config(), SPMU_E_ARGUMENT);
	given.size = offsetof(struct spmu_core_config, errata);
	CHECK_EQ(pass_config(), SPMU_OK);
	/* A field that the library cannot do without. */
	given.size = offsetof(struct spmu_core_config, meters);
	CHECK_EQ(pass_config(), SPMU_E_ARGUMENT);
	given.port = host_port(&host);
	given.size = offsetof(struct spmu_port, interrupted);
	CHECK_EQ(pass_port(), SPMU_E_ARGUMENT);
	CHECK_EQ(host_detect(&host), SPMU_OK);
	fill_memory();
	given.memory.bts_memory = host.area; /* and no bts_linear */
	given.size = offsetof(struct spmu_driver_memory, bts_memory);
	CHECK_EQ(pass_memory(), SPMU_OK);
	host_free(&host);
}

/* Checks that the library writes the fields that the caller knows, and no byte after them. */
static void gives_fields(void)
{
	struct spmu_model_info whole;

	host_make(&host, 1);
	whole = spmu_model_describe(host.model);
	CHECK_EQ(whole.size, sizeof(whole));
	memset(given.bytes, 0xa5, sizeof(given.bytes));
	given.size = offsetof(struct spmu_model_info, signature);
	CHECK_EQ(pass_info(), SPMU_OK);
	CHECK_EQ(given.size, offsetof(struct spmu_model_info, signature));
	CHECK(given.info.pfm == whole.pfm);
	CHECK_EQ(given.info.signature, 0xa5a5a5a5);
	memset(given.bytes, 0xa5, sizeof(given.bytes));
	given.size = sizeof(whole) + LATER_BYTES;
	CHECK_EQ(pass_info(), SPMU_OK);
	CHECK_EQ(given.info.signature, whole.signature);
	CHECK_EQ(given.bytes[sizeof(whole) + LATER_BYTES - 1], 0);
	CHECK_EQ(given.bytes[sizeof(whole) + LATER_BYTES], 0xa5);
	CHECK_EQ(spmu_model_get_info(NULL, &whole), SPMU_E_ARGUMENT);
	CHECK_EQ(spmu_model_get_info(host.model, NULL), SPMU_E_ARGUMENT);
	host_free(&host);
}

int main(void)
{
	RUN(takes_sizes());
	RUN(takes_sizes_of_cascades());
	RUN(misses_fields());
	RUN(gives_fields());
	return test_summary();
}
