package io.turbidite.hashlog.scan;

import io.turbidite.hashlog.psf.Properties;
import io.turbidite.hashlog.psf.PropertyExtractor;
import io.turbidite.hashlog.psf.PropertyMode;
import io.turbidite.hashlog.psf.PropertyValue;

import java.lang.foreign.MemorySegment;

/**
 * Parses a record, evaluates one PSF and compares: what a chain would have told where there is
 * none. A record that the parser refuses has no property, as at ingestion. <em>Confined to one
 * thread.</em>
 */
public final class PropertyTest implements RecordTest {
    private final PropertyExtractor extractor;
    private final PropertyValue wanted;
    private final Properties properties = new Properties();

    /**
     * @param extractor of a set with that one PSF
     * @param wanted its value
     */
    public PropertyTest(PropertyExtractor extractor, PropertyValue wanted) {
        this.extractor = extractor;
        this.wanted = wanted;
    }

    @Override
    public boolean matches(MemorySegment segment, long offset, int length) {
        return extractor.extract(segment, offset, length, properties)
                && properties.count() > 0
                && isWanted(segment, offset);
    }

    private boolean isWanted(MemorySegment segment, long offset) {
        PropertyMode mode = properties.mode(0);
        if (mode == PropertyMode.INLINE) {
            return wanted.matches(properties.inlineValue(0));
        }
        return mode == PropertyMode.PAYLOAD
                ? wanted.matches(segment, offset + properties.offset(0), properties.length(0))
                : wanted.matches(properties.region(), properties.offset(0), properties.length(0));
    }
}
