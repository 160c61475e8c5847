/**
 * The six workloads of YCSB through the public API, beside RocksDB. What is asked is drawn by the
 * core of YCSB itself, before anything is measured, and each engine is asked the same.
 *
 * <p>Start reading at {@link io.turbidite.bench.ycsb.YcsbSuite}.
 */
@NullMarked
package io.turbidite.bench.ycsb;

import org.jspecify.annotations.NullMarked;
