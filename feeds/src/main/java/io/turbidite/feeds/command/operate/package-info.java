/**
 * Keeping a store: {@code backup}, {@code restore}, {@code ship}, {@code receive}, {@code repair},
 * {@code verify}, {@code quarantine} and {@code trash}.
 */
@NullMarked
package io.turbidite.feeds.command.operate;

import org.jspecify.annotations.NullMarked;
