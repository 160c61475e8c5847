package io.turbidite.feeds.console;

import static org.junit.jupiter.api.Assertions.fail;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;
import org.openqa.selenium.By;
import org.openqa.selenium.OutputType;
import org.openqa.selenium.WebElement;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;
import org.openqa.selenium.logging.LogType;
import org.openqa.selenium.logging.LoggingPreferences;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.logging.Level;
import java.util.stream.Stream;

/**
 * A Chromium without a window, from the paths of Debian's packages, so that nothing is fetched.
 * There is one for a JVM: its start takes longer than most tests. It ends with the JVM.
 */
final class Browser {
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final List<String> CHROMIUMS =
            List.of("/usr/bin/chromium", "/usr/bin/chromium-browser");
    private static final List<String> DRIVERS =
            List.of("/usr/bin/chromedriver", "/usr/lib/chromium/chromedriver");

    /** The script that looks for barriers; half a megabyte. */
    private static final String AXE = axe();

    /** The script that looks for what is cut or overlaps; its callback is its argument. */
    private static final String CROWDED = """
            const done = arguments[0];
            const found = [];
            const name = one => `${one.tagName.toLowerCase()}.${one.className} "${one.textContent.trim().slice(0, 40)}"`;
            const visible = one => one.checkVisibility({ visibilityProperty: true, opacityProperty: true });
            const styles = new Map();
            const style = one => {
              if (!styles.has(one)) { styles.set(one, getComputedStyle(one)); }
              return styles.get(one);
            };
            const meets = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
                && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 2;
            const box = one => `${Math.round(one.left)},${Math.round(one.top)} ${Math.round(one.width)}x${Math.round(one.height)}`;
            const texts = [];
            const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
            for (let node = walker.nextNode(); node; node = walker.nextNode()) {
              const owner = node.parentElement;
              if (node.data.trim() === '' || !visible(owner) || owner.closest('option, script, noscript, .offscreen, .skip')) {
                continue;
              }
              const range = document.createRange();
              range.selectNodeContents(node);
              for (const rect of range.getClientRects()) {
                let { left, right, top, bottom } = rect;
                if (right - left < 1) { continue; }
                let scrolled = false;
                for (let around = owner; around && around !== document.documentElement; around = around.parentElement) {
                  const is = style(around);
                  const hides = one => one === 'hidden' || one === 'clip';
                  const frame = around.getBoundingClientRect();
                  if (is.overflowX === 'auto' || is.overflowX === 'scroll' || is.overflowY === 'auto' || is.overflowY === 'scroll') {
                    scrolled = true; // what is not seen is scrolled to
                    [left, right, top, bottom] = [Math.max(left, frame.left), Math.min(right, frame.right),
                        Math.max(top, frame.top), Math.min(bottom, frame.bottom)];
                    break;
                  }
                  const wide = hides(is.overflowX) && (left < frame.left - 1 || right > frame.right + 1);
                  const high = hides(is.overflowY) && (top < frame.top - 2 || bottom > frame.bottom + 2);
                  if (wide && is.textOverflow === 'ellipsis' && around.title === around.textContent) {
                    [left, right] = [Math.max(left, frame.left), Math.min(right, frame.right)];
                  } else if (wide || high) {
                    found.push(`cut: ${name(owner)} at ${box(rect)} by ${name(around)} at ${box(frame)}`);
                    [left, right, top, bottom] = [Math.max(left, frame.left), Math.min(right, frame.right),
                        Math.max(top, frame.top), Math.min(bottom, frame.bottom)];
                  }
                }
                if (!scrolled && (left < -1 || right > document.documentElement.clientWidth + 1)) {
                  found.push(`outside: ${name(owner)} at ${box(rect)}`);
                }
                if (right - left > 1 && bottom - top > 2) {
                  texts.push({ owner, rect: new DOMRect(left, top, right - left, bottom - top) });
                }
              }
            }
            if (texts.length < 10) {
              found.push(`only ${texts.length} texts were looked at`);
            }
            texts.sort((a, b) => a.rect.top - b.rect.top);
            texts.forEach((a, i) => {
              for (let j = i + 1; j < texts.length && texts[j].rect.top < a.rect.bottom; j++) {
                if (texts[j].owner !== a.owner && meets(a.rect, texts[j].rect)) {
                  found.push(`over each other: ${name(a.owner)} and ${name(texts[j].owner)} at ${box(a.rect)}`);
                }
              }
            });
            for (const parent of document.body.querySelectorAll('*')) {
              const children = parent.closest('svg') || !visible(parent) ? [] : [...parent.children].filter(one => visible(one)
                  && !one.matches('.offscreen, .skip') && style(one).position !== 'absolute' && style(one).display !== 'inline');
              children.forEach((one, i) => children.slice(i + 1).forEach(two => {
                if (meets(one.getBoundingClientRect(), two.getBoundingClientRect())) {
                  found.push(`neighbours over each other: ${name(one)} and ${name(two)}`);
                }
              }));
            }
            for (const one of document.body.querySelectorAll('*')) {
              if (visible(one) && one.clientWidth > 0 && one.scrollWidth > one.clientWidth + 1
                  && style(one).overflowX === 'visible' && !one.closest('svg, .offscreen, .skip')) {
                found.push(`wider than its box: ${name(one)}`);
              }
            }
            done(found.slice(0, 20));
            """;

    private static @Nullable Browser shared;

    private final ChromeDriver driver;

    private Browser(ChromeDriver driver) {
        this.driver = driver;
    }

    /**
     * The browser of this JVM, which the first call starts; where there is none the test is
     * skipped, or fails with {@code -Dbrowser=required}.
     */
    static synchronized Browser shared() {
        if (shared == null) {
            Browser started = start();
            Runtime.getRuntime()
                    .addShutdownHook(Thread.ofPlatform()
                            .name("console-browser-end")
                            .unstarted(started.driver::quit));
            shared = started;
        }
        return shared;
    }

    private static Browser start() {
        Optional<Path> chromium = firstOf(CHROMIUMS);
        Optional<Path> chromedriver = firstOf(DRIVERS);
        if (chromium.isEmpty() || chromedriver.isEmpty()) {
            String missing =
                    "no browser: the console's tests want the packages chromium and chromium-driver (.ci/browser)";
            if ("required".equals(System.getProperty("browser"))) {
                fail(missing);
            }
            Assumptions.abort(missing);
        }
        ChromeOptions options = new ChromeOptions();
        options.setBinary(chromium.orElseThrow().toFile());
        options.addArguments(
                "--headless=new",
                "--no-sandbox",
                "--disable-dev-shm-usage",
                "--disable-gpu",
                "--disable-extensions",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-default-apps",
                "--no-first-run",
                "--hide-scrollbars",
                "--js-flags=--max-old-space-size=256");
        LoggingPreferences logs = new LoggingPreferences();
        logs.enable(LogType.BROWSER, Level.ALL);
        logs.enable(LogType.PERFORMANCE, Level.ALL);
        options.setCapability("goog:loggingPrefs", logs);
        ChromeDriverService service = new ChromeDriverService.Builder()
                .usingDriverExecutable(chromedriver.orElseThrow().toFile())
                .usingAnyFreePort()
                .build();
        return new Browser(new ChromeDriver(service, options));
    }

    private static Optional<Path> firstOf(List<String> paths) {
        return Stream.of(paths.toArray(String[]::new))
                .map(Path::of)
                .filter(Files::isExecutable)
                .findFirst();
    }

    /** Opens a page anew, with nothing left of the one before. */
    void open(URI page) {
        driver.get("about:blank"); // another fragment alone would load nothing
        driver.get(page.toString());
    }

    /** Ends what the page has under way. */
    void leave() {
        driver.get("about:blank");
    }

    void size(int width, int height) {
        // the window of a headless browser may be narrower than a window's least width
        driver.executeCdpCommand(
                "Emulation.setDeviceMetricsOverride",
                Map.of("width", width, "height", height, "deviceScaleFactor", 1, "mobile", false));
    }

    /** What the system says of light and dark, and that little should move. */
    void theme(String name) {
        driver.executeCdpCommand(
                "Emulation.setEmulatedMedia",
                Map.of(
                        "features",
                        List.of(
                                Map.of("name", "prefers-color-scheme", "value", name),
                                Map.of("name", "prefers-reduced-motion", "value", "reduce"))));
    }

    /** Clicks the first element of a selector, once it is there. */
    void click(String css) {
        waitFor(css, "");
        WebElement element = driver.findElement(By.cssSelector(css));
        driver.executeScript("arguments[0].scrollIntoView({block: 'center'})", element);
        element.click();
    }

    /** Clicks the first button of the view whose text has some words, once it is there. */
    void press(String words) {
        var _ = runLong("""
                const [words, done] = arguments;
                const look = () => {
                  const found = [...document.querySelectorAll('main button, main summary')]
                      .find(one => one.offsetParent !== null && one.textContent.includes(words));
                  if (found) { found.click(); done(true); }
                  else { requestAnimationFrame(look); }
                };
                look();
                """, words);
    }

    /**
     * Types into an element, from empty; the page is told that it was emptied, as it is by a
     * user's keys.
     */
    void type(String css, String text) {
        WebElement element = driver.findElement(By.cssSelector(css));
        driver.executeScript(
                "const one = arguments[0]; one.focus(); one.value = ''; one.dispatchEvent(new Event('input'))",
                element);
        element.sendKeys(text);
    }

    /** Presses keys in an element. */
    void press(String css, CharSequence keys) {
        driver.findElement(By.cssSelector(css)).sendKeys(keys);
    }

    /** Waits until an element is there and has a text. */
    void waitFor(String css, String text) {
        waitFor(css, text, PATIENCE);
    }

    /** Waits that long; the page looks by itself at each frame. */
    void waitFor(String css, String text, Duration patience) {
        Object found = runLong("""
                const [css, text, millis, done] = arguments;
                const end = performance.now() + millis;
                const look = () => {
                  const node = document.querySelector(css);
                  if (node && node.innerText.includes(text)) { done(true); }
                  else if (performance.now() > end) { done(false); }
                  else { setTimeout(look, 20); }
                };
                look();
                """, css, text, patience.toMillis());
        if (!Boolean.TRUE.equals(found)) {
            List<String> log = driver.manage().logs().get(LogType.BROWSER).getAll().stream()
                    .map(String::valueOf)
                    .toList();
            Object loaded = driver.executeScript(
                    "return performance.getEntriesByType('resource').map(one => one.name.replace(location.origin, '') + ' ' + one.responseStatus)");
            fail("%s lacks '%s': %s; the browser says %s, and has loaded %s"
                    .formatted(css, text, textOf(css), log, loaded));
        }
    }

    String textOf(String css) {
        Object text = driver.executeScript(
                "const node = document.querySelector(arguments[0]); return node ? node.innerText : ''",
                css);
        return String.valueOf(text);
    }

    Object run(String script, Object... arguments) {
        return driver.executeScript(script, arguments);
    }

    /** Runs a script with a callback behind its arguments. */
    Object runLong(String script, Object... arguments) {
        driver.manage().timeouts().scriptTimeout(PATIENCE.plusSeconds(5));
        return driver.executeAsyncScript(script, arguments);
    }

    /**
     * What axe-core finds against WCAG 2.2, A and AA, in the page as it is: rule and element, or
     * that nothing was tested.
     */
    List<String> barriers() throws IOException {
        driver.executeScript(AXE);
        Object found = runLong("""
                const done = arguments[0];
                const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];
                axe.run(document, { runOnly: { type: 'tag', values: tags } })
                    .then(answer => done(answer.passes.length === 0 ? ['no rule was tested']
                        : answer.violations.flatMap(rule => rule.nodes.map(
                            node => `${rule.id}: ${node.failureSummary} at ${node.html.slice(0, 120)}`))))
                    .catch(error => done([String(error)]));
                """);
        return ((List<?>) found).stream().map(String::valueOf).toList();
    }

    /** Waits until the page has drawn itself anew after a change of its size. */
    void settle() {
        var _ = runLong("""
                const done = arguments[0];
                requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 0))));
                """);
    }

    /**
     * Texts that are cut off or lie over each other, and boxes that lie over their neighbours. Text
     * may be cut where an ellipsis says so and the title of its element has all of it.
     */
    List<String> crowded() {
        return ((List<?>) runLong(CROWDED)).stream().map(String::valueOf).toList();
    }

    private static String axe() {
        try (InputStream in = Browser.class.getResourceAsStream("/axe.min.js")) {
            return new String(Objects.requireNonNull(in).readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Bytes that the page holds once its garbage is gone, with those of its arrays. */
    long heapBytes() {
        driver.executeCdpCommand("HeapProfiler.collectGarbage", Map.of());
        Map<String, Object> usage = driver.executeCdpCommand("Runtime.getHeapUsage", Map.of());
        return ((Number) usage.get("usedSize")).longValue()
                + ((Number) usage.getOrDefault("backingStorageSize", 0)).longValue();
    }

    void picture(Path file) throws IOException {
        Files.createDirectories(file.toAbsolutePath().getParent());
        Files.write(file, driver.getScreenshotAs(OutputType.BYTES));
    }

    /** What the browser complained of since the last call, but for failed requests. */
    List<String> complaints() {
        return driver.manage().logs().get(LogType.BROWSER).getAll().stream()
                .filter(entry -> entry.getLevel().intValue() >= Level.WARNING.intValue())
                .map(entry -> entry.getLevel() + " " + entry.getMessage())
                .filter(line -> !line.contains("Failed to load resource"))
                .toList();
    }

    /** Addresses that the page asked for since the last call, and that are not its own. */
    List<String> foreign(String origin) throws IOException {
        List<String> found = new ArrayList<>();
        for (var entry : driver.manage().logs().get(LogType.PERFORMANCE)) {
            JsonNode message = JSON.readTree(entry.getMessage()).path("message");
            if (message.path("method").asText().equals("Network.requestWillBeSent")) {
                String url = message.path("params").path("request").path("url").asText();
                if (!url.startsWith(origin) && !url.startsWith("about:")) {
                    found.add(url);
                }
            }
        }
        return found;
    }
}
