package io.turbidite.feeds.web;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import io.turbidite.core.time.Clock;
import io.turbidite.feeds.manage.FeedManager;
import io.turbidite.feeds.web.access.Gate;
import io.turbidite.feeds.web.http.Doorkeeper;
import io.turbidite.feeds.web.http.HttpOptions;
import io.turbidite.feeds.web.http.TlsFiles;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.pm.PmKind;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** Two small stores behind a server, and a client of it. */
final class ServedStore implements AutoCloseable {
    static final int RECORD_COUNT = 500;

    final Map<String, Store> stores = new LinkedHashMap<>();
    final Map<String, FeedManager> feeds = new LinkedHashMap<>();
    final WebServer server;
    private final WebServer.Options options;
    private final HttpClient client = HttpClient.newHttpClient();

    Store store(String name) {
        return Objects.requireNonNull(stores.get(name), name);
    }

    private ServedStore(Path directory, HttpOptions http, Doorkeeper gate, @Nullable TlsFiles tls)
            throws IOException {
        for (String name : List.of("one", "two")) {
            Store store = Store.open(
                    directory.resolve(name), StoreOptions.defaults().withIndexKinds(new PmKind()));
            stores.put(name, store);
            feeds.put(name, FeedManager.open(store));
        }
        fill(store("one"));
        options = new WebServer.Options(
                List.of(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)),
                List.of("named.example"),
                http,
                gate,
                tls,
                FilesRoot.of(directory));
        server = anotherServer();
    }

    /** One more server of the same stores; to be closed by the caller. */
    WebServer anotherServer() throws IOException {
        return anotherServer(Clock.system());
    }

    WebServer anotherServer(Clock clock) throws IOException {
        return WebServer.start(new ServedStores(stores, feeds), options, clock);
    }

    /** One for whose clients no file may be named. */
    WebServer anotherServerWithoutFiles() throws IOException {
        return WebServer.start(
                new ServedStores(stores, feeds),
                new WebServer.Options(
                        options.listens(),
                        options.hostNames(),
                        options.http(),
                        options.doorkeeper(),
                        options.tls(),
                        FilesRoot.none()),
                Clock.system());
    }

    static URI uri(WebServer server, String path) {
        return URI.create("http://127.0.0.1:" + server.addresses().getFirst().getPort() + path);
    }

    static ServedStore open(Path directory) throws IOException {
        return new ServedStore(directory, HttpOptions.defaults(), Gate.withoutTokens(), null);
    }

    static ServedStore open(Path directory, HttpOptions http, Doorkeeper gate) throws IOException {
        return new ServedStore(directory, http, gate, null);
    }

    static ServedStore open(Path directory, TlsFiles tls) throws IOException {
        return new ServedStore(directory, HttpOptions.defaults(), Gate.withoutTokens(), tls);
    }

    private static void fill(Store store) {
        if (store.findDataset("T") != null) {
            return; // it is opened again
        }
        Dataset dataset = store.createDataset(DatasetSpec.named("T")
                .field("id", "int64")
                .field("n", "int32")
                .field("text", "string")
                .primaryKey("id")
                .index(IndexSpec.btree("by_n", "n")));
        for (int i = 0; i < RECORD_COUNT; i++) {
            dataset.upsert(Map.of("id", (long) i, "n", i % 10, "text", "text of " + i));
        }
        dataset.flush();
    }

    int port() {
        return server.addresses().getFirst().getPort();
    }

    HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(uri(server, path));
    }

    HttpResponse<String> send(HttpRequest request) throws IOException, InterruptedException {
        return client.send(request, HttpResponse.BodyHandlers.ofString());
    }

    HttpResponse<String> get(String path) throws IOException, InterruptedException {
        return send(request(path).build());
    }

    HttpResponse<String> post(String path, String body) throws IOException, InterruptedException {
        return send(
                request(path).POST(HttpRequest.BodyPublishers.ofString(body)).build());
    }

    HttpClient client() {
        return client;
    }

    static JsonNode json(String text) throws IOException {
        return new ObjectMapper().readTree(text);
    }

    @Override
    public void close() {
        client.shutdownNow();
        client.close();
        server.close();
        feeds.values().forEach(FeedManager::close);
        stores.values().forEach(Store::close);
    }
}
