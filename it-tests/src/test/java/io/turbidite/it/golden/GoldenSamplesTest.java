package io.turbidite.it.golden;

import io.turbidite.lsm.component.Compression;

/** The same of component format 6, whose primaries have samples, and of manifest format 15. */
class GoldenSamplesTest extends GoldenColumnsTest {
    @Override
    String archive(Compression compression) {
        return "golden/columns-%s-v2.zip".formatted(compression.label());
    }
}
