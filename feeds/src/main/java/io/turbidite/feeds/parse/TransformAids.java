package io.turbidite.feeds.parse;

import org.jspecify.annotations.Nullable;

import java.util.List;

/** What transforms ask beside the record itself. <em>Confined to the thread of the parser.</em> */
public interface TransformAids {
    /**
     * What a function gives.
     *
     * @throws io.turbidite.core.InvalidRequestException if it fails
     */
    @Nullable
    Object call(String function, List<@Nullable Object> arguments);

    /**
     * A field of the record with a primary key; null if there is no such record.
     *
     * @param key its parts, none of them null
     * @throws io.turbidite.core.InvalidRequestException if they can't be a key of the dataset
     */
    @Nullable
    Object lookUp(String dataset, String field, List<Object> key);

    /** Those of who looks at records without taking any: nothing is called, nothing found. */
    static TransformAids none() {
        return new TransformAids() {
            @Override
            public @Nullable Object call(String function, List<@Nullable Object> arguments) {
                return null;
            }

            @Override
            public @Nullable Object lookUp(String dataset, String field, List<Object> key) {
                return null;
            }
        };
    }
}
