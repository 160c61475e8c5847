package io.turbidite.feeds.web;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.config.MeterFilter;
import io.micrometer.core.instrument.config.MeterFilterReply;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.turbidite.core.Cleanup;
import io.turbidite.core.meter.Meters;
import io.turbidite.core.meter.MicrometerBinder;
import io.turbidite.feeds.web.http.Exchange;
import io.turbidite.lsm.Store;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;

/**
 * All instruments for a scraper of Prometheus. <em>Thread-safe.</em>
 *
 * <p>At most {@link #SERIES_COUNT_MAX} series: what comes later is counted and left out.
 */
final class Scrape implements AutoCloseable {
    static final int SERIES_COUNT_MAX = 2_000;

    private static final Logger LOG = LoggerFactory.getLogger(Scrape.class);
    private static final String OPEN_METRICS = "application/openmetrics-text";

    /** The line that names a family's type, if its name ends in a unit. */
    private static final Pattern UNIT_OF_TYPE = Pattern.compile(
            "^# TYPE (turbidite_\\S+_(bytes_per_second|bytes|percent|seconds)) .*\n",
            Pattern.MULTILINE);

    private final PrometheusMeterRegistry registry =
            new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    private final Set<Meter.Id> taken = ConcurrentHashMap.newKeySet();
    private final Set<Meter.Id> refused = ConcurrentHashMap.newKeySet();
    private final List<MicrometerBinder> binders = new ArrayList<>();

    Scrape(Map<String, Store> stores, Meters server) {
        registry.config().meterFilter(new MeterFilter() {
            @Override
            public MeterFilterReply accept(Meter.Id id) {
                return admit(id) ? MeterFilterReply.NEUTRAL : MeterFilterReply.DENY;
            }
        });
        registry.config().onMeterRemoved(meter -> taken.remove(meter.getId()));
        server.gauge("http.series.refused", refused::size);
        bind(new MicrometerBinder(server));
        stores.forEach((name, store) -> bind(new MicrometerBinder(store.meters(), name)));
    }

    private void bind(MicrometerBinder binder) {
        binders.add(binder);
        binder.bindTo(registry);
    }

    private boolean admit(Meter.Id id) {
        if (taken.contains(id)) {
            return true;
        }
        int count = taken.stream().mapToInt(Scrape::seriesOf).sum();
        if (count + seriesOf(id) > SERIES_COUNT_MAX) {
            if (refused.add(id) && refused.size() == 1) {
                LOG.warn(
                        "there are more than {} series: {} and what follows is left out of"
                                + " /metrics",
                        SERIES_COUNT_MAX,
                        id);
            }
            return false;
        }
        taken.add(id);
        return true;
    }

    /** Sum and count of a timer. */
    private static int seriesOf(Meter.Id id) {
        return id.getType() == Meter.Type.TIMER ? 2 : 1;
    }

    /** Answers in the format that is asked for. */
    void answer(Exchange exchange, Sight sight) {
        String accepted = exchange.header("Accept");
        boolean open = accepted != null && accepted.contains(OPEN_METRICS);
        String type = open
                ? OPEN_METRICS + "; version=1.0.0; charset=utf-8"
                : "text/plain; version=0.0.4; charset=utf-8";
        exchange.answer(
                200,
                type,
                sight.ofSeries(text(type, open)).getBytes(StandardCharsets.UTF_8),
                Map.of());
    }

    /** The registry knows units by the ends of names alone; OpenMetrics has a line for them. */
    String text(String type, boolean open) {
        String scraped = registry.scrape(type);
        return open ? UNIT_OF_TYPE.matcher(scraped).replaceAll("$0# UNIT $1 $2\n") : scraped;
    }

    @Override
    public void close() {
        new Cleanup()
                .addAll(binders, MicrometerBinder::close)
                .add(registry::close)
                .run();
    }
}
