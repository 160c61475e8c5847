package io.turbidite.feeds.web;

import com.fasterxml.jackson.databind.JsonNode;

import io.turbidite.core.meter.SlowOperations;
import io.turbidite.core.meter.SlowOperations.Kind;
import io.turbidite.feeds.command.common.Json;
import io.turbidite.feeds.command.store.AdviseCommand;
import io.turbidite.feeds.health.Finding;
import io.turbidite.feeds.health.Findings;
import io.turbidite.feeds.web.http.Exchange;
import io.turbidite.feeds.web.http.Right;
import io.turbidite.feeds.web.http.Route;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.backup.BackupReport;
import io.turbidite.lsm.backup.CopyMode;
import io.turbidite.lsm.check.VerifyReport;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** What an operator asks of a store, as the commands do. <em>Thread-safe.</em> */
final class StoreWork {
    private static final long BODY_BYTES_MAX = 64 << 10;

    private final ServedStores stores;
    private final FilesRoot files;

    StoreWork(ServedStores stores, FilesRoot files) {
        this.stores = stores;
        this.files = files;
    }

    List<Route> routes() {
        return List.of(
                Route.of("POST", "/v1/stores/{store}/backup", Right.MANAGE, this::backup)
                        .withBodyBytesMax(BODY_BYTES_MAX),
                Route.of("POST", "/v1/stores/{store}/verify", Right.MANAGE, this::verify)
                        .withBodyBytesMax(BODY_BYTES_MAX),
                Route.of("GET", "/v1/stores/{store}/findings", Right.READ, this::findings),
                Route.of("GET", "/v1/stores/{store}/slow", Right.READ, this::slow),
                Route.of("GET", "/v1/stores/{store}/advice", Right.READ, this::advise));
    }

    private Store store(Exchange exchange) {
        return stores.store(exchange);
    }

    private void backup(Exchange exchange) throws IOException {
        Store store = store(exchange);
        JsonNode body = Bodies.json(exchange);
        Bodies.checkKeys(body, List.of("directory"));
        Path target = files.resolve("directory", Bodies.text(body, "directory"));
        BackupReport report = store.backup(target, CopyMode.LINK_OR_COPY);
        exchange.answer(
                200,
                Json.line()
                        .put("ok", true)
                        .put("backup", target.toString())
                        .put("timestamp", report.timestamp())
                        .put("linked", report.linked())
                        .put("copied", report.copied())
                        .put("written", report.written())
                        .put("bytes", report.bytes())
                        .toMap());
    }

    private void verify(Exchange exchange) throws IOException {
        Store store = store(exchange);
        JsonNode body = Bodies.jsonOrNothing(exchange);
        Bodies.checkKeys(body, List.of("quick"));
        VerifyReport report =
                body.path("quick").asBoolean() ? store.verifyQuickly() : store.verify();
        exchange.answer(
                200,
                Json.line()
                        .put("ok", report.isOk())
                        .put("datasets", report.datasets())
                        .put("components", report.components())
                        .put("errors", report.errors())
                        .toMap());
    }

    private void findings(Exchange exchange) {
        Sight sight = Sight.of(exchange, List.of(exchange.name("store")));
        exchange.answer(
                200,
                Map.of(
                        "findings",
                        Findings.of(
                                        store(exchange),
                                        sight.sees(null, null),
                                        feed -> sight.sees(exchange.name("store"), feed))
                                .stream()
                                .map(Finding::toMap)
                                .toList()));
    }

    /** The newest first. */
    private void slow(Exchange exchange) {
        SlowOperations slow = SlowOperations.of(store(exchange).meters());
        exchange.answer(
                200,
                Json.line()
                        .put("thresholdNanos", slow.thresholdNanos(Kind.WRITE))
                        .put("readThresholdNanos", slow.thresholdNanos(Kind.READ))
                        .put(
                                "operations",
                                slow.newest().stream().map(StoreWork::toMap).toList())
                        .toMap());
    }

    private static Map<String, @Nullable Object> toMap(SlowOperations.Slow slow) {
        return Json.line()
                .put("at", EventText.instant(slow.wallMicros()))
                .put("operation", slow.operation())
                .put("nanos", slow.nanos())
                .put("thresholdNanos", slow.thresholdNanos())
                .put("lockNanos", slow.lockNanos())
                .put("logNanos", slow.logNanos())
                .put("stallNanos", slow.stallNanos())
                .put("pageReadNanos", slow.pageReadNanos())
                .put("mergeNanos", slow.mergeNanos())
                .toMap();
    }

    private void advise(Exchange exchange) {
        exchange.answer(
                200,
                Json.line()
                        .put("store", exchange.name("store"))
                        .put(
                                "datasets",
                                store(exchange).datasets().stream()
                                        .filter(dataset -> !dataset.indexes().isEmpty())
                                        .map(Dataset::advise)
                                        .map(AdviseCommand::toMap)
                                        .toList())
                        .toMap());
    }
}
