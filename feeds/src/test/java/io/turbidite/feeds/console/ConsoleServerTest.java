package io.turbidite.feeds.console;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.turbidite.core.sim.LeaksOnPurpose;
import io.turbidite.core.time.Clock;
import io.turbidite.core.type.Point;
import io.turbidite.feeds.manage.FeedManager;
import io.turbidite.feeds.web.FilesRoot;
import io.turbidite.feeds.web.ServedStores;
import io.turbidite.feeds.web.WebServer;
import io.turbidite.feeds.web.access.Gate;
import io.turbidite.feeds.web.http.HttpOptions;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** The console before the true server with a true store. */
@LeaksOnPurpose("the driver's client ends its threads when it likes")
final class ConsoleServerTest {
    private static final int RECORD_COUNT = 2_000;

    @Test
    void theConsoleShowsATrueStore(@TempDir Path directory) throws IOException {
        Browser browser = Browser.shared();
        var _ = browser.complaints();
        var _ = browser.foreign(""); // of the tests before
        try (Store store = Store.open(directory.resolve("tides"), StoreOptions.defaults())) {
            Dataset dataset = store.createDataset(DatasetSpec.named("Readings")
                    .field("id", "int64")
                    .field("station", "string")
                    .field("place", "point")
                    .field("at", "int64")
                    .primaryKey("id")
                    .filter("at")
                    .index(IndexSpec.btree("by_station", "station")));
            write(dataset, 0);
            dataset.flush();
            try (FeedManager feeds = FeedManager.open(store);
                    WebServer server = WebServer.start(
                            new ServedStores(Map.of("tides", store), Map.of("tides", feeds)),
                            new WebServer.Options(
                                    List.of(new InetSocketAddress(
                                            InetAddress.getLoopbackAddress(), 0)),
                                    List.of(),
                                    HttpOptions.defaults(),
                                    Gate.withoutTokens(),
                                    null,
                                    FilesRoot.none()),
                            Clock.system())) {
                String origin =
                        "http://127.0.0.1:" + server.addresses().getFirst().getPort();
                ask(browser, origin, dataset);
                assertEquals(List.of(), browser.complaints());
                assertEquals(List.of(), browser.foreign(origin));
                browser.leave();
            }
        }
    }

    private static void ask(Browser browser, String origin, Dataset dataset) {
        browser.size(1280, 900);
        browser.theme("light");
        browser.open(URI.create(origin + "/#strata"));
        browser.waitFor("#state", "well");
        browser.waitFor(".bed-row .row-about", "1 bed,");
        browser.waitFor("#figures", "memory");
        write(dataset, RECORD_COUNT);
        dataset.flush();
        browser.waitFor(".bed-row .row-about", "2 beds", Duration.ofSeconds(2));
        assertTrue(browser.textOf(".dataset h2").contains("Readings"));
        browser.click(".rail a[href='#query']");
        browser.type("#sql", "select station, place from Readings where station = 'S7'");
        browser.click("#run");
        browser.waitFor("#query-status", "400 rows in");
        browser.waitFor(".grid-body", "S7");
        browser.click("#tab-places");
        browser.waitFor("#answer", "400 places");
        browser.click("#tab-plan");
        browser.waitFor("#considered", "index by_station");
        browser.waitFor("#answer", "400 rows");
        // beds that a query passed over are pale until the next
        browser.type("#sql", "select id from Readings where at >= " + RECORD_COUNT);
        browser.click("#explain");
        browser.waitFor("#answer", "1 component passed over");
        browser.waitFor("#answer", " of CPU");
        browser.click(".rail a[href='#strata']");
        browser.waitFor(".bed-row .row-about", "1 passed over by the last query");
        browser.click(".rail a[href='#query']");
        browser.type("#sql", "select nothing from Nowhere");
        browser.click("#run");
        browser.waitFor("#answer .note-error", "Nowhere");
        browser.click(".rail a[href='#strata']");
        assertEquals(
                false,
                browser.run(
                        "return document.querySelector('main').innerText.includes('1 passed over by the last query')"));
        browser.click(".rail a[href='#pulse']");
        browser.waitFor("main", "Nothing holds writers up");
        browser.waitFor("main", "Cache hit rate");
        browser.click(".rail a[href='#feeds']");
        browser.waitFor("main", "No feed.");
        browser.click(".rail a[href='#findings']");
        browser.waitFor("main", "None since the store was opened");
        browser.waitFor("main", "Readings");
        browser.waitFor("main", "by_station");
    }

    private static void write(Dataset dataset, int from) {
        for (int i = from; i < from + RECORD_COUNT; i++) {
            dataset.upsert(Map.of(
                    "id",
                    (long) i,
                    "at",
                    (long) i,
                    "station",
                    "S" + i % 10,
                    "place",
                    new Point(i % 360 - 180.0, i % 180 - 90.0)));
        }
    }
}
