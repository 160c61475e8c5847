package io.turbidite.feeds.command;

import io.turbidite.core.format.KnownFormat;
import io.turbidite.hashlog.registry.RegistryFile;
import io.turbidite.lsm.check.FormatSurvey;
import io.turbidite.lsm.ship.Shipment;

import picocli.CommandLine.IVersionProvider;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** What {@code --version} prints: version, JDK, formats. <em>Made by the parser.</em> */
final class VersionLines implements IVersionProvider {
    @Override
    public String[] getVersion() {
        List<KnownFormat> formats = new ArrayList<>(FormatSurvey.known());
        formats.add(Shipment.FORMAT);
        formats.add(RegistryFile.KNOWN);
        return new String[] {
            "turbidite %s, on Java %s".formatted(Main.VERSION, System.getProperty("java.version")),
            "formats: "
                    + formats.stream().map(KnownFormat::toString).collect(Collectors.joining(", "))
        };
    }
}
