/**
 * The contents of a store: {@code inspect}, {@code advise}, {@code index}, {@code drop},
 * {@code put}, {@code delete} and {@code merge}.
 */
@NullMarked
package io.turbidite.feeds.command.store;

import org.jspecify.annotations.NullMarked;
