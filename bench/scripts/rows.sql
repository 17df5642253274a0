-- SPDX-License-Identifier: MIT
-- 200,000 rows: insertion, an index, a join, a grouping and an ordering.
CREATE TABLE item (id INTEGER PRIMARY KEY, kind INTEGER, name TEXT, price REAL);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000)
INSERT INTO item SELECT i, (i * 7919) % 1000, 'item ' || ((i * 104729) % 200003), (i % 997) * 0.25 FROM n;
CREATE INDEX item_kind ON item (kind, price);
SELECT kind, count(*), sum(price) FROM item GROUP BY kind ORDER BY 3 DESC, 1 LIMIT 5;
SELECT count(*) FROM item a JOIN item b ON b.kind = a.kind AND b.price = a.price WHERE a.id % 2 = 0;
SELECT name FROM item WHERE name LIKE '%99%7' ORDER BY name LIMIT 5;
SELECT count(DISTINCT substr(name, 1, 8)), max(length(name)) FROM item;
SELECT a.kind, sum(a.price * b.price) FROM item a JOIN item b ON b.id = a.id + 1 GROUP BY a.kind ORDER BY 2 DESC LIMIT 3;
UPDATE item SET price = price * 1.1 WHERE kind BETWEEN 100 AND 300;
SELECT round(sum(price), 2) FROM item;
