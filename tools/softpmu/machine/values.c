/* SPDX-License-Identifier: MIT */
/* values.c: sizes, words, replacement policies and sizes of pages, read and written. */
#include "tools/softpmu/machine/values.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "tools/softpmu/base/tool.h"
#include "tools/softpmu/machine/parameter.h"

const char *const values_conditional_words[] = {
	[SPMU_PREDICT_NONE] = "none",	    [SPMU_PREDICT_BIMODAL] = "bimodal",
	[SPMU_PREDICT_GSELECT] = "gselect", [SPMU_PREDICT_GSHARE] = "gshare",
	[SPMU_PREDICT_TAGE] = "tage",	    NULL};
const char *const values_inclusion_words[] = {[SPMU_NONINCLUSIVE] = "noninclusive",
					      [SPMU_INCLUSIVE] = "inclusive",
					      [SPMU_VICTIM] = "victim",
					      NULL};
const char *const values_switch_words[] = {"off", "on", NULL};

static const char *const policy_words[] = {[SPMU_REPLACE_LRU] = "lru",
					   [SPMU_REPLACE_FIFO] = "fifo",
					   [SPMU_REPLACE_TREE_PLRU] = "plru",
					   [SPMU_REPLACE_MRU] = "mru",
					   NULL};

/* --- words ------------------------------------------------------------------------------ */

int values_word_find(const char *const *words, const char *text)
{
	for (int i = 0; words[i]; i++)
		if (!strcasecmp(words[i], text))
			return i;
	return -1;
}

char *values_words_text(const char *const *words)
{
	char *text = tool_copy(words[0]);

	for (size_t i = 1; words[i]; i++) {
		char *longer = tool_print("%s%s%s", text, words[i + 1] ? ", " : " or ", words[i]);

		free(text);
		text = longer;
	}
	return text;
}

/* --- sizes ------------------------------------------------------------------------------ */

bool values_size_read(const char *text, uint64_t *bytes)
{
	static const char suffixes[] = "KMG";
	const char *suffix;
	char *end;
	unsigned long long number;

	if (!isdigit((unsigned char)text[0]))
		return false;
	errno = 0;
	number = strtoull(text, &end, 10);
	suffix = *end ? strchr(suffixes, toupper((unsigned char)*end)) : NULL;
	if (suffix)
		end++;
	return !errno && !*end &&
	       !__builtin_mul_overflow((uint64_t)number,
				       suffix ? UINT64_C(1024) << 10 * (suffix - suffixes) : 1,
				       bytes);
}

char *values_size_text(uint64_t bytes)
{
	unsigned shift = 0;

	while (shift < 3 && bytes && bytes % 1024 == 0) {
		bytes /= 1024;
		shift++;
	}
	return tool_print("%llu%.1s", (unsigned long long)bytes, &"\0KMG"[shift]);
}

/* --- replacement policies ------------------------------------------------------------------ */

static bool digit_of(const char **at, const char *before, uint8_t *value, uint8_t most)
{
	size_t length = strlen(before);

	if (strncasecmp(*at, before, length) != 0 || !isdigit((unsigned char)(*at)[length]))
		return false;
	*value = (uint8_t)((*at)[length] - '0');
	*at += length + 1;
	return *value <= most;
}

bool values_policy_read(const char *text, struct spmu_replacement *policy)
{
	struct spmu_replacement made = {.policy = SPMU_REPLACE_QLRU};
	int word = values_word_find(policy_words, text);

	if (word >= 0) {
		*policy = (struct spmu_replacement){.policy = (uint8_t)word};
		return true;
	}
	if (!digit_of(&text, "QLRU_H", &made.hit_from_3, 2) ||
	    !digit_of(&text, "", &made.hit_from_2, 1) || !digit_of(&text, "_M", &made.insert, 3) ||
	    !digit_of(&text, "_R", &made.victim, 2) || !digit_of(&text, "_U", &made.update, 3))
		return false;
	made.update_on_miss = !strcasecmp(text, "_UMO");
	if (*text && !made.update_on_miss)
		return false;
	*policy = made;
	return true;
}

char *values_policy_text(const struct spmu_replacement *policy)
{
	if (policy->policy != SPMU_REPLACE_QLRU)
		return tool_copy(policy_words[policy->policy]);
	return tool_print("QLRU_H%u%u_M%u_R%u_U%u%s", policy->hit_from_3, policy->hit_from_2,
			  policy->insert, policy->victim, policy->update,
			  policy->update_on_miss ? "_UMO" : "");
}

/* --- sizes of pages ------------------------------------------------------------------------- */

bool values_pages_read(const char *text, uint32_t *shifts)
{
	static const struct {
		char name[3];
		unsigned shift;
	} pages[] = {{"4K", 12}, {"2M", 21}, {"1G", 30}};
	uint32_t made = 0;

	for (;;) {
		size_t i = 0;

		while (i < 3 && strncasecmp(text, pages[i].name, 2) != 0)
			i++;
		if (i == 3)
			return false;
		made |= 1u << pages[i].shift;
		text += 2;
		if (!*text)
			break;
		if (*text++ != '+')
			return false;
	}
	*shifts = made;
	return true;
}

char *values_pages_text(uint32_t shifts)
{
	char *text = tool_print("%s%s%s", shifts & 1u << 12 ? "+4K" : "",
				shifts & 1u << 21 ? "+2M" : "", shifts & 1u << 30 ? "+1G" : "");

	if (*text)
		memmove(text, text + 1, strlen(text));
	return text;
}
