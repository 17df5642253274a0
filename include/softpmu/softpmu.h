/* SPDX-License-Identifier: MIT */
/* softpmu.h: all of libsoftpmu's public headers.  Example: examples/softpmu.c. */
#ifndef SOFTPMU_SOFTPMU_H
#define SOFTPMU_SOFTPMU_H

#include <softpmu/accesses.h>
#include <softpmu/base.h>
#include <softpmu/driver.h>
#include <softpmu/ds.h>
#include <softpmu/lbr.h>
#include <softpmu/model.h>
#include <softpmu/registers.h>
#include <softpmu/signals.h>
#include <softpmu/state.h>
#include <softpmu/tallies.h>
#include <softpmu/uarch.h>
#include <softpmu/uncore.h>
#include <softpmu/unit.h>

#endif
