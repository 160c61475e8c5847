/**
 * The topics of a Kafka cluster as a source. A partition of a topic is a partition of the source,
 * and a position in it is the offset behind what was taken.
 *
 * <p>Invariant: how far a feed is, the store alone says. What the group knows at the brokers is for
 * displays of lag. Start reading at {@link io.turbidite.feeds.source.kafka.KafkaSource}.
 *
 * <p>The library kafka-clients is optional: only {@code KafkaKind}, {@code KafkaOptions} and what
 * they name are there without it.
 */
@NullMarked
package io.turbidite.feeds.source.kafka;

import org.jspecify.annotations.NullMarked;
