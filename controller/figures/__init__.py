"""What was measured: exact histograms, quantiles and shares with their intervals; pure arithmetic."""
