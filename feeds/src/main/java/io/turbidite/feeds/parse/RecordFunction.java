package io.turbidite.feeds.parse;

import org.jspecify.annotations.Nullable;

import java.util.List;

/**
 * A function of your own, for the transforms of feeds. Found by {@link java.util.ServiceLoader}
 * under its name: definitions name no classes.
 *
 * <p>Each run of a feed has an instance of its own, which one thread alone uses. An exception costs
 * its record, which becomes a dead letter; ten in a row pause the feed.
 */
public interface RecordFunction {
    /** By which definitions call it. */
    String name();

    /**
     * The value for one record. It should take microseconds: each record waits for it.
     *
     * @param arguments text, numbers, truth values, or what the functions of transforms give; null
     *     where there is no value. From CSV text alone
     * @return a value of the field's type, text that is read by that type, or null
     */
    @Nullable
    Object apply(List<@Nullable Object> arguments);
}
