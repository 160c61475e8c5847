package io.turbidite.feeds.avro;

import io.turbidite.core.InvalidRequestException;

/** Whether the library of Avro is there: an embedder who reads none needs none. */
public final class AvroLibrary {
    private static final byte[] SMALLEST = {
        '{', '"', 't', 'y', 'p', 'e', '"', ':', '"', 'm', 'a', 'p', '"', ',', '"', 'v', 'a', 'l',
        'u', 'e', 's', '"', ':', '"', 'n', 'u', 'l', 'l', '"', '}'
    };

    private AvroLibrary() {}

    /**
     * Has it loaded.
     *
     * @throws InvalidRequestException naming it, if it is not there
     */
    public static void require() {
        var _ = SchemaReader.read(SMALLEST);
    }

    static InvalidRequestException missing(NoClassDefFoundError e) {
        return new InvalidRequestException(
                "a parser of kind avro needs the library org.apache.avro:avro", e);
    }
}
