package io.turbidite.feeds.console;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The console's files by themselves: how large, and nothing in them that its policy forbids. */
final class ConsoleFilesTest {
    private static final long BYTES_MAX = 200_000;

    /** What makes markup or code of text. */
    private static final Pattern MARKUP = Pattern.compile(
            "innerHTML|outerHTML|insertAdjacentHTML|document\\.write|DOMParser|createContextualFragment"
                    + "|\\beval\\s*\\(|new Function|setHTMLUnsafe|EventSource|localStorage|sessionStorage|\\.cookie");

    private static final Map<String, Pattern> OF_PAGES = Map.of(
            "a script in the page", Pattern.compile("<script(?![^>]*\\ssrc=)[^>]*>"),
            "a style in the page", Pattern.compile("<style|\\sstyle\\s*="),
            "a handler in the page", Pattern.compile("\\son[a-z]+\\s*="));

    private static final Pattern URL =
            Pattern.compile("(?:https?:)?//[A-Za-z0-9][A-Za-z0-9.-]*\\.[a-z]{2,}[^\\s'\"]*");
    private static final Pattern IMPORT =
            Pattern.compile("(?:import|from)\\s*\\(?['\"]([^'\"]+)['\"]");

    @Test
    void allFilesTogetherAreSmall() throws IOException {
        long bytes = 0;
        for (Path file : ConsoleFile.all()) {
            bytes += Files.size(file);
        }
        assertTrue(bytes > 20_000 && bytes <= BYTES_MAX, bytes + " bytes");
    }

    @Test
    void nothingIsInlineForeignOrReadAsMarkup() throws IOException {
        List<String> found = new ArrayList<>();
        for (Path file : ConsoleFile.all()) {
            String text = ConsoleFile.text(file);
            find(found, file, "makes markup", MARKUP, text);
            if (file.toString().endsWith(".html") || file.toString().endsWith(".svg")) {
                OF_PAGES.forEach((what, pattern) -> find(found, file, what, pattern, text));
            }
            Matcher url = URL.matcher(text);
            while (url.find()) {
                if (!url.group()
                        .startsWith("http://www.w3.org/2000/svg")) { // a name, not an address
                    found.add(file.getFileName() + " names " + url.group());
                }
            }
        }
        assertEquals(List.of(), found);
    }

    @Test
    void modulesAskForFilesThatAreThere() throws IOException {
        for (Path file : ConsoleFile.all()) {
            if (file.toString().endsWith(".js")) {
                Matcher wanted = IMPORT.matcher(ConsoleFile.text(file));
                while (wanted.find()) {
                    assertTrue(
                            wanted.group(1).startsWith("./"), file + " wants " + wanted.group(1));
                    assertTrue(
                            Files.exists(file.resolveSibling(wanted.group(1).substring(2))),
                            file + " wants " + wanted.group(1));
                }
            }
        }
    }

    private static void find(
            List<String> found, Path file, String what, Pattern pattern, String text) {
        Matcher matcher = pattern.matcher(text);
        while (matcher.find()) {
            found.add("%s: %s: %s".formatted(file.getFileName(), what, matcher.group()));
        }
    }
}
