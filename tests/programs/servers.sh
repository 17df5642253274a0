#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# servers.sh: servers under `stat` that native clients load: redis-server under redis-benchmark, nginx
# under wrk, PostgreSQL under pgbench; and a program with a just-in-time compiler. Their
# answers are right, they end when asked, and there is a count.
#
# SOAK_SECONDS=N continues for N seconds with the first two and the compiler: no wrong answer, and no more
# memory at the end than after a fifth of the time.
# shellcheck source-path=SCRIPTDIR
# shellcheck disable=SC2154,SC2317
TMPDIR=${TMPDIR:-/tmp}
((${#TMPDIR} < 60)) || TMPDIR=/tmp # a socket's name is short
. "$(dirname "$0")/lib.sh"
PATH=$PATH:/usr/sbin:/sbin
SOAK_SECONDS=${SOAK_SECONDS:-0}
LIMIT=$((SOAK_SECONDS + 300))
PORT=${PORT:-$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')}
cd "$SCRATCH" || exit 1
chmod 755 "$SCRATCH"

# begin NAME COMMAND...: starts it under stat, in the background. $tool is the tool's process.
begin() {
	local name=$1
	shift
	timeout -s KILL "$LIMIT" "$SOFTPMU" stat -j -o "$SCRATCH/$name.json" -e instructions:u -- "$@" \
		>"$SCRATCH/$name.out" 2>"$SCRATCH/$name.err" &
	tool=$!
}

# until_true COMMAND...: repeats the command until it succeeds, for at most two minutes.
until_true() {
	local i
	for ((i = 0; i < 1200; i++)); do
		"$@" >"$SCRATCH/said" 2>&1 && return
		sleep 0.1
	done
	return 1
}

# over NAME STATUS: it has ended with this status, and has a count.
over() {
	local count
	wait "$tool"
	same "$1: status" "$2" $?
	count=$(count_of "$SCRATCH/$1.json" 1)
	if [[ $count =~ ^[0-9]{6,}$ ]]; then
		pass "$1: $count instructions"
	else
		fail "$1" "its count is '$count': $(tail -n 1 "$SCRATCH/$1.err")"
	fi
}

# memory PID: prints the KiB of the process and its children.
memory() {
	local sum=0 n pid
	for pid in "$1" $(pgrep -P "$1"); do
		n=$(sed -n 's/^VmRSS:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$pid/status" 2>/dev/null)
		sum=$((sum + ${n:-0}))
	done
	echo "$sum"
}

# soak NAME PID COMMAND...: repeats the command for SOAK_SECONDS.
soak() {
	local name=$1 pid=$2 start=$SECONDS early=0 late wrong=0 rounds=0
	shift 2
	((SOAK_SECONDS)) || return
	while ((SECONDS - start < SOAK_SECONDS)); do
		"$@" || wrong=$((wrong + 1))
		rounds=$((rounds + 1))
		((early || SECONDS - start < SOAK_SECONDS / 5)) || early=$(memory "$pid")
	done
	late=$(memory "$pid")
	same "$name: $rounds rounds, wrong ones" 0 $wrong
	# A code cache that fills up and is emptied, and arenas of malloc.
	if ((early && late <= early + early / 4 + 16384)); then
		pass "$name: $early KiB, then $late"
	else
		fail "$name: memory" "$early KiB after a fifth, $late at the end"
	fi
}

# --- redis

redis_load() {
	redis-benchmark -s "$SCRATCH/redis.sock" -n 5000 -c 10 -t set,get,incr,lpush,lrange_100,zadd --csv \
		>"$SCRATCH/redis.load" 2>&1 && [[ $(grep -c '^"[A-Z].*,"[0-9.]*"' "$SCRATCH/redis.load") -ge 6 ]] &&
		redis-cli -s "$SCRATCH/redis.sock" del mylist myzset >"$SCRATCH/said" # which would grow with each round
}

# The same commands give the same data in every server.
redis_data() {
	{
		echo flushall
		awk 'BEGIN { srand(3); for (i = 0; i < 3000; i++) {
			k = int(rand() * 200); print "set s" k " " i; print "lpush l" k " " i; print "sadd t" k % 7 " m" i
			print "zadd z" k % 5 " " int(rand() * 100) " m" i; print "hincrby h" k % 3 " f" k " " i; print "append a" k " x" } }'
		echo 'eval "local s = 0 for i = 1, 10000 do s = s + i * i % 7 end return s" 0'
		echo 'sort l5 desc'
		echo 'debug digest'
	} | redis-cli -s "$1" 2>&1 | md5sum
}

redis() {
	local options=(--port 0 --unixsocket "$SCRATCH/redis.sock" --save '' --appendonly no --enable-debug-command local) want pid
	if ! have redis-server || ! have redis-benchmark; then
		not_run "redis-server" "not installed"
		return
	fi
	redis-server "${options[@]}" >"$SCRATCH/said" 2>&1 &
	tool=$!
	until_true redis-cli -s "$SCRATCH/redis.sock" ping
	want=$(redis_data "$SCRATCH/redis.sock")
	redis-cli -s "$SCRATCH/redis.sock" shutdown nosave
	wait $tool
	begin redis redis-server "${options[@]}"
	until_true redis-cli -s "$SCRATCH/redis.sock" ping || fail "redis" "does not answer: $(tail -n 1 "$SCRATCH/redis.err")"
	same "redis: data" "$want" "$(redis_data "$SCRATCH/redis.sock")"
	expect "redis: redis-benchmark" redis_load
	pid=$(redis-cli -s "$SCRATCH/redis.sock" info server | sed -n 's/^process_id:\([0-9]*\).*/\1/p')
	soak redis "$pid" redis_load
	same "redis: data after the load" "$want" "$(redis_data "$SCRATCH/redis.sock")"
	redis-cli -s "$SCRATCH/redis.sock" shutdown nosave
	over redis 0
}

# --- nginx

nginx_load() {
	wrk -t 2 -c 20 -d "${1:-2}s" --timeout 60s "http://127.0.0.1:$PORT/file" >"$SCRATCH/wrk" 2>&1 &&
		! grep -q 'Non-2xx\|Socket errors' "$SCRATCH/wrk" &&
		awk '$2 == "requests" && $1 > 100 { found = 1 } END { exit !found }' "$SCRATCH/wrk"
}

get() {
	python3 -c 'import sys, urllib.request; sys.stdout.buffer.write(urllib.request.urlopen(sys.argv[1]).read())' \
		"http://127.0.0.1:$PORT/$1"
}

nginx_server() {
	local pid
	if ! have nginx || ! have wrk || ! have python3; then
		not_run "nginx" "not installed"
		return
	fi
	mkdir -p "$SCRATCH/www"
	seq 1 2000 >"$SCRATCH/www/file"
	cat >"$SCRATCH/nginx.conf" <<-CONF
		user root;
		daemon off;
		worker_processes 2;
		pid $SCRATCH/nginx.pid;
		error_log $SCRATCH/nginx.log;
		events { worker_connections 128; }
		http {
			access_log off;
			gzip on;
			gzip_types *;
			server { listen 127.0.0.1:$PORT; root $SCRATCH/www; }
		}
	CONF
	begin nginx nginx -c "$SCRATCH/nginx.conf"
	until_true get file || fail "nginx" "does not answer: $(tail -n 1 "$SCRATCH/nginx.err")"
	get file >"$SCRATCH/got"
	same_file "nginx: a file" "$SCRATCH/www/file" "$SCRATCH/got"
	expect "nginx: wrk" nginx_load
	pid=$(<"$SCRATCH/nginx.pid")
	soak nginx "$pid" nginx_load 10
	get file >"$SCRATCH/got"
	same_file "nginx: a file after the load" "$SCRATCH/www/file" "$SCRATCH/got"
	kill -QUIT "$pid"
	over nginx 0
}

# --- PostgreSQL, which does not run as root

as_postgres() {
	setpriv --reuid=postgres --regid=postgres --clear-groups env HOME="$SCRATCH/pg" "$@"
}

postgres_server() {
	local bin q
	bin=$(find /usr/lib/postgresql -maxdepth 2 -name bin 2>/dev/null | sort | tail -n 1)
	if [[ -z $bin ]] || ! have "$bin/pgbench"; then
		not_run "PostgreSQL" "not installed"
		return
	fi
	mkdir "$SCRATCH/pg" && chown postgres "$SCRATCH/pg"
	if ! as_postgres test -x "$SOFTPMU" 2>/dev/null; then
		not_run "PostgreSQL" "its user cannot reach the tool, or there is none"
		return
	fi
	cp "$SOFTPMU" "$SCRATCH/pg/softpmu"
	as_postgres timeout -s KILL "$LIMIT" "$SCRATCH/pg/softpmu" stat -j -o "$SCRATCH/pg/initdb.json" -e instructions:u -- \
		"$bin/initdb" -D "$SCRATCH/pg/data" -A trust -N >"$SCRATCH/initdb.out" 2>&1
	same "initdb: status" 0 $?
	[[ $(count_of "$SCRATCH/pg/initdb.json" 1) =~ ^[0-9]{9,}$ ]] || fail "initdb" "no count"
	as_postgres timeout -s KILL "$LIMIT" "$SCRATCH/pg/softpmu" stat -j -o "$SCRATCH/pg/postgres.json" -e instructions:u -- \
		"$bin/postgres" -D "$SCRATCH/pg/data" -k "$SCRATCH/pg" -c listen_addresses= -F >"$SCRATCH/postgres.err" 2>&1 &
	tool=$!
	q=("$bin/psql" -h "$SCRATCH/pg" -U postgres -At)
	until_true "${q[@]}" -c 'select 1' || fail "PostgreSQL" "does not answer: $(tail -n 1 "$SCRATCH/postgres.err")"
	"$bin/pgbench" -h "$SCRATCH/pg" -U postgres -i -q postgres >"$SCRATCH/said" 2>&1
	"$bin/pgbench" -h "$SCRATCH/pg" -U postgres -c 4 -j 2 -t 100 postgres >"$SCRATCH/pgbench" 2>&1
	same "pgbench" "400/400" "$(sed -n 's/^number of transactions actually processed: //p' "$SCRATCH/pgbench")"
	same "pgbench: its sums are one" "t|400|100000" "$("${q[@]}" -c 'select (select sum(abalance) from pgbench_accounts) =
		all (select sum(bbalance) from pgbench_branches union all select sum(tbalance) from pgbench_tellers
		union all select sum(delta) from pgbench_history), (select count(*) from pgbench_history),
		(select count(distinct aid) from pgbench_accounts)')"
	same "PostgreSQL: a parallel query" 5000050000 "$("${q[@]}" -c 'set parallel_setup_cost = 0; set parallel_tuple_cost = 0;
		set min_parallel_table_scan_size = 0; select sum(aid) from pgbench_accounts' | tail -n 1)"
	kill -INT "$(head -n 1 "$SCRATCH/pg/data/postmaster.pid")"
	cp "$SCRATCH/pg/postgres.json" "$SCRATCH" 2>/dev/null
	wait $tool
	tool_status=$?
	same "PostgreSQL: status" 0 $tool_status
	[[ $(count_of "$SCRATCH/pg/postgres.json" 1) =~ ^[0-9]{9,}$ ]] || fail "PostgreSQL" "no count"
}

# --- a just-in-time compiler: functions are made, run hot, and are dropped

jit() {
	local seconds=$((SOAK_SECONDS ? SOAK_SECONDS : 3))
	if ! have node; then
		not_run "node" "not installed"
		return
	fi
	cat >"$SCRATCH/jit.js" <<-'JS'
		const fs = require('fs'), end = Date.now() + 1000 * Number(process.argv[2]);
		const rss = () => Number(/VmRSS:\s*(\d+)/.exec(fs.readFileSync('/proc/self/status', 'utf8'))[1]);
		let wrong = 0, rounds = 0, early = 0, began = Date.now();
		while (Date.now() < end) {
			const k = rounds % 1000, f = new Function('n', `let s = ${k}; for (let i = 0; i < n; i++) s = (s * 31 + i) % 1000003; return s`);
			let s = k;
			for (let i = 0; i < 20000; i++) s = (s * 31 + i) % 1000003;
			if (f(20000) !== s) wrong++;
			rounds++;
			if (!early && (Date.now() - began) * 5 > end - began) early = rss();
		}
		console.log(wrong, rounds > 10, rss() < early * 1.25 + 65536);
	JS
	begin jit node "$SCRATCH/jit.js" $seconds
	over jit 0
	same "a compiler for $seconds s: wrong answers, rounds, memory" "0 true true" "$(<"$SCRATCH/jit.out")"
}

redis
nginx_server
((SOAK_SECONDS)) || postgres_server
jit
finish
