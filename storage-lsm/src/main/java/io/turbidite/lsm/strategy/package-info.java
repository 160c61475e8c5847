/**
 * The maintenance strategies: how the filter and the secondary indexes of a partition follow its
 * records.
 *
 * <p>A strategy speaks up at three places. When a record is written, {@link Maintainer} puts the
 * entries into the memory components: one {@code IndexMaintainer} for each kind of index. When
 * components are merged, {@link StrategyHooks} picks what each index adds to the merge. When a
 * query reads, the strategy says what must be checked. What is one strategy's alone lies in its own
 * room:
 *
 * <ul>
 *   <li>{@link io.turbidite.lsm.strategy.validation}: entries are written blindly and checked
 *       later.
 *   <li>{@link io.turbidite.lsm.strategy.bitmap}: writers mark the old version where it lies.
 *   <li>{@link io.turbidite.lsm.strategy.deferred}: merges of the primary find what is obsolete.
 *   <li>{@link io.turbidite.lsm.strategy.deletedkey}: a deleted-key tree tells which keys were
 *       written over.
 *   <li>{@link io.turbidite.lsm.strategy.advice}: which strategy an index should have.
 * </ul>
 *
 * <p>Eager needs no room: {@code EagerIndex} writes anti-matter for the old entry, and nothing is
 * left to do. {@link PrimaryRepair} is no strategy's: it repairs an index by the records of the
 * primary, for comparison. A strategy locks nothing, logs nothing and waits for nothing while a
 * record is written.
 */
@NullMarked
package io.turbidite.lsm.strategy;

import org.jspecify.annotations.NullMarked;
