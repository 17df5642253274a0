#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# database.sh: sqlite3 with 200,000 rows: bulk insert, indexes, joins, updates, a file on disk.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
have sqlite3 || stop sqlite3 "is not installed"

cat >"$SCRATCH/script.sql" <<'SQL'
PRAGMA synchronous = OFF;
CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT, price REAL, class INT);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000)
INSERT INTO item SELECT i, 'item-' || ((i * 7919) % 200003), (i * 31 % 1000) / 7.0, i % 97 FROM n;
CREATE INDEX by_name ON item(name);
CREATE INDEX by_class ON item(class, price);
SELECT count(*), sum(price), min(name), max(name) FROM item;
SELECT class, count(*), avg(price) FROM item GROUP BY class ORDER BY 3 DESC LIMIT 5;
SELECT a.id, b.id FROM item a JOIN item b ON a.name = b.name AND a.id < b.id LIMIT 3;
UPDATE item SET price = price * 1.1 WHERE class = 13;
DELETE FROM item WHERE id % 1000 = 0;
SELECT name, price FROM item WHERE name LIKE '%999' ORDER BY price DESC, name LIMIT 10;
SELECT count(DISTINCT substr(name, 6, 3)) FROM item;
PRAGMA integrity_check;
SQL
INPUT=$SCRATCH/script.sql
identical "sqlite3, a file" sqlite3 -batch rows.db
grep -q '^200000|' "$SCRATCH/native.out" || fail "sqlite3" "has not 200,000 rows"
identical "sqlite3, in memory" sqlite3 -batch :memory:
printf 'SELEC nonsense;\n' >"$SCRATCH/wrong.sql"
INPUT=$SCRATCH/wrong.sql
identical "sqlite3, an error" sqlite3 -batch -bail :memory:
finish
